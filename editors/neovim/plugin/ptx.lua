-- The PTX in binaries: see lua/ptx/members.lua.
local group = vim.api.nvim_create_augroup('ptx_members', {})
vim.api.nvim_create_autocmd('BufReadCmd', {
  group = group,
  pattern = 'ptx-member://*',
  callback = function(event) require('ptx.members').read(event.buf, event.match) end,
})
vim.api.nvim_create_autocmd('BufNewFile', {
  group = group,
  pattern = '*![0-9]*:sm_*',
  nested = true,
  callback = function(event)
    require('ptx.members').edit(event.file)
    vim.api.nvim_buf_delete(event.buf, { force = true })
  end,
})
vim.api.nvim_create_autocmd('BufReadCmd', {
  group = group,
  pattern = { '*.fatbin', '*.cubin' },
  nested = true,
  callback = function(event)
    vim.bo[event.buf].buftype, vim.bo[event.buf].bufhidden = 'nowrite', 'wipe'
    require('ptx.members').pick(event.match)
  end,
})
vim.api.nvim_create_user_command('PtxMembers', function(command) require('ptx.members').pick(command.args) end, {
  nargs = '?',
  complete = 'file',
  desc = 'The PTX in a fat binary, object file, library or executable',
})
