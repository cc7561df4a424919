-- The PTX in binaries: `ptx-member:///path/libfoo.so!3:sm_90` is a read-only buffer, and :PtxMembers lists what is in a
-- container.
local M = {}
local scheme = 'ptx-member://'

-- A server that answers about files: one that is attached to any buffer, else a new one.
local function server()
  local client = vim.lsp.get_clients({ name = 'ptx_lsp' })[1]
  if not client then
    local config = assert(vim.lsp.config.ptx_lsp, 'ptx: lsp/ptx_lsp.lua is not on the runtimepath')
    local id = vim.lsp.start(vim.tbl_extend('force', config, { root_dir = vim.fn.getcwd() }), { attach = false })
    client = assert(id and vim.lsp.get_client_by_id(id), 'ptx: the language server does not start')
  end
  vim.wait(60000, function() return client.initialized end, 10)
  return client
end

local function ask(method, uri)
  local answer, failure = server():request_sync(method, { textDocument = { uri = uri } }, 60000)
  if not answer or answer.err then
    return nil, answer and answer.err.message or failure
  end
  return answer.result
end

local function complain(message)
  vim.notify('ptx: ' .. (message or 'no answer'), vim.log.levels.ERROR)
end

-- Fills a buffer with the text of the member that its name names.
function M.read(buffer, name)
  local answer, failure = ask('ptx/memberText', vim.uri_from_bufnr(buffer))
  if not answer then
    return complain(failure or name)
  end
  vim.bo[buffer].modifiable = true
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split(answer.text:gsub('\n$', ''), '\n'))
  vim.bo[buffer].modified, vim.bo[buffer].modifiable, vim.bo[buffer].readonly = false, false, true
  vim.bo[buffer].swapfile, vim.bo[buffer].undofile = false, false
  vim.bo[buffer].filetype = 'ptx'
end

-- Edits `libfoo.so!3:sm_90`.
function M.edit(address)
  vim.cmd.edit({ args = { scheme .. vim.fn.fnamemodify(address, ':p') }, magic = { file = false, bar = false } })
end

-- Lets the user pick a member of a container, by default the one in the buffer.
function M.pick(path)
  path = vim.fn.fnamemodify(path ~= '' and path or vim.api.nvim_buf_get_name(0):gsub('^' .. scheme, ''):gsub('!%d+:[%w_]+$', ''), ':p')
  local found, failure = ask('ptx/containerMembers', vim.uri_from_fname(path))
  if not found then
    return complain(failure)
  end
  for _, note in ipairs(found.notes) do
    vim.notify(('%s: %s'):format(vim.fs.basename(path), note), vim.log.levels.WARN)
  end
  if #found.members == 0 then
    return
  end
  vim.ui.select(found.members, {
    prompt = 'Members of ' .. vim.fs.basename(path),
    format_item = function(one) return ('%-12s PTX %s, %d bytes'):format(one.name, one.version, one.size) end,
  }, function(one)
    if one then M.edit(path .. '!' .. one.name) end
  end)
end

return M
