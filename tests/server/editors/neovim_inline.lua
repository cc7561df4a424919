-- Opens files in other languages in Neovim and writes what came of it to a file of JSON. Run by test_neovim.py.
local report, out, folder = {}, vim.env.PTX_REPORT, vim.env.PTX_FOLDER
local function wait(what) return vim.wait(60000, what, 20) end
local function attached()
  return vim.tbl_map(function(client) return client.name end, vim.lsp.get_clients({ bufnr = 0 }))
end

local function run()
  vim.cmd.edit(folder .. '/inline.c')
  wait(function() return #attached() == 1 and vim.lsp.get_clients({ bufnr = 0 })[1].initialized end)
  report.attached = attached()
  wait(function() return #vim.diagnostic.get(0) > 0 end)
  report.findings = vim.tbl_map(function(one) return { one.lnum, one.col, one.code } end, vim.diagnostic.get(0))
  local function ask(method, row, column)
    vim.api.nvim_win_set_cursor(0, { row, column })
    local at = vim.lsp.util.make_position_params(0, 'utf-8')
    for _, one in pairs(vim.lsp.buf_request_sync(0, 'textDocument/' .. method, at, 60000) or {}) do
      return one.result
    end
  end
  report.hover = ask('hover', 4, 27)
  report.outside = ask('hover', 5, 4) == nil
  vim.treesitter.start(0, 'c')
  vim.treesitter.get_parser(0, 'c'):parse(true)
  report.captures = vim.tbl_map(
    function(one) return one.lang .. ' ' .. one.capture end,
    vim.treesitter.get_captures_at_pos(0, 3, 16)
  )
  wait(function() return #(vim.lsp.semantic_tokens.get_at_pos(0, 3, 16) or {}) > 0 end)
  report.token = vim.lsp.semantic_tokens.get_at_pos(0, 3, 16)[1].type
  vim.cmd.edit(folder .. '/plain.c')
  vim.wait(500, function() return false end)
  report.beside_plain = attached()
end

local ok, failure = pcall(run)
if not ok then report.failure = failure end
vim.fn.writefile({ vim.json.encode(report) }, out)
vim.cmd.quitall({ bang = true })
