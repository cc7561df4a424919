-- Opens members of a container in Neovim and writes what it shows to a file of JSON. Run by test_neovim_members.py.
local report = { notes = {} }
local function wait(what) return vim.wait(60000, what, 20) end
vim.notify = function(message) table.insert(report.notes, message) end
vim.ui.select = function(items, options, choose)
  report.listed = vim.tbl_map(options.format_item, items)
  choose(items[2])
end
local function shown()
  wait(function() return #vim.diagnostic.get(0) > 0 end)
  return {
    name = vim.api.nvim_buf_get_name(0),
    first = vim.api.nvim_buf_get_lines(0, 0, 2, false),
    filetype = vim.bo.filetype,
    modifiable = vim.bo.modifiable,
    modified = vim.bo.modified,
    findings = vim.tbl_map(function(one) return one.code end, vim.diagnostic.get(0)),
  }
end
local ok, failure = pcall(function()
  vim.cmd.PtxMembers(vim.env.PTX_CONTAINER)
  report.picked = shown()
  vim.cmd.edit({ args = { vim.env.PTX_CONTAINER .. '!1:sm_80' }, magic = { file = false, bar = false } })
  report.addressed = shown()
  vim.cmd.edit(vim.env.PTX_MACHINE_CODE)
  vim.cmd.PtxMembers(vim.env.PTX_CONTAINER .. '.none')
end)
if not ok then report.error = tostring(failure) end
vim.fn.writefile({ vim.json.encode(report) }, vim.env.PTX_REPORT)
vim.cmd('qa!')
