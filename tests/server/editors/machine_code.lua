-- Opens the three columns in Neovim and writes what is marked to a file of JSON. Run by test_neovim.py.
local report = {}
local function wait(what) return vim.wait(60000, what, 20) end
local function marked(buffer)
  local space = vim.api.nvim_create_namespace('ptx_machine_code')
  return vim.tbl_map(function(one) return one[2] end, vim.api.nvim_buf_get_extmarks(buffer, space, 0, -1, {}))
end
local ok, failure = pcall(function()
  vim.cmd.edit(vim.env.PTX_FILE)
  wait(function()
    local client = vim.lsp.get_clients({ bufnr = 0 })[1]
    return client and client.initialized
  end)
  local ptx = vim.api.nvim_get_current_win()
  vim.fn.search('ld.param')
  vim.cmd.PtxMachineCode()
  local wanted = tonumber(vim.env.PTX_WINDOWS)
  report.opened = wait(function() return #vim.api.nvim_list_wins() == wanted end)
  vim.api.nvim_set_current_win(ptx)
  vim.fn.search('ld.global')
  vim.cmd.doautocmd('CursorMoved')
  report.line = vim.fn.line('.') - 1
  report.windows = {}
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    local buffer = vim.api.nvim_win_get_buf(window)
    table.insert(report.windows, {
      name = vim.api.nvim_buf_get_name(buffer),
      marked = vim.tbl_map(function(line)
        return vim.api.nvim_buf_get_lines(buffer, line, line + 1, false)[1]
      end, marked(buffer)),
    })
  end
end)
if not ok then report.error = tostring(failure) end
vim.fn.writefile({ vim.json.encode(report) }, vim.env.PTX_REPORT)
vim.cmd('qa!')
