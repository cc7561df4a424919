-- Opens a PTX file in Neovim, uses its own LSP client as a person would, and writes what came of it to a file
-- of JSON. Run by test_neovim.py.
local report, out = {}, vim.env.PTX_REPORT
local function lines() return vim.api.nvim_buf_get_lines(0, 0, -1, false) end
local function wait(what) return vim.wait(60000, what, 20) end
local function find(text, skip)
  for number, line in ipairs(lines()) do
    local at = line:find(text, 1, true)
    if at then return { number, at - 1 + (skip or 0) } end
  end
  error('not in the text: ' .. text)
end
local function go(text, skip) vim.api.nvim_win_set_cursor(0, find(text, skip)) end
local function rules()
  return vim.tbl_map(function(one) return one.code end, vim.diagnostic.get(0))
end
local function has(rule) return vim.tbl_contains(rules(), rule) end
local function typed(keys) vim.api.nvim_feedkeys(vim.keycode(keys), 'tx', false) end

local function run()
  vim.cmd.edit(vim.env.PTX_FILE)
  report.filetype = vim.bo.filetype
  wait(function()
    local client = vim.lsp.get_clients({ bufnr = 0 })[1]
    return client and client.initialized
  end)
  local client = vim.lsp.get_clients({ bufnr = 0 })[1]
  report.client = { name = client.name, encoding = client.offset_encoding, server = client.server_info }
  report.at_first = wait(function() return has('undeclared-name') end)
  report.clean_of = not has('unknown-instruction')

  -- diagnostics while typing: they appear, and go away
  go('add.s32 %r3')
  typed('itypo <Esc>')
  report.appear = wait(function() return has('unknown-instruction') or has('syntax-error') end)
  report.appeared = rules()
  typed('u')
  report.go_away = wait(function() return not has('unknown-instruction') and not has('syntax-error') end)

  local function ask(method, more)
    local params = vim.lsp.util.make_position_params(0, client.offset_encoding)
    params = vim.tbl_extend('force', params, more or {})
    local answer = client:request_sync(method, params, 60000, 0)
    return answer and answer.result
  end

  go('mul.wide.u32')
  vim.lsp.buf.hover()
  report.hover = wait(function()
    for _, window in ipairs(vim.api.nvim_list_wins()) do
      if vim.api.nvim_win_get_config(window).relative ~= '' then
        report.hover_text = table.concat(
          vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false), '\n')
        vim.api.nvim_win_close(window, true)
        return true
      end
    end
  end)

  go('add.f32', 4)
  report.completion = vim.tbl_map(
    function(item) return item.label end, ask('textDocument/completion').items)
  go('DONE:')
  report.references = #ask('textDocument/references', { context = { includeDeclaration = true } })
  go('bra DONE', 4)
  vim.lsp.buf.definition()
  report.definition = wait(function() return vim.api.nvim_get_current_line():find('^DONE:') ~= nil end)

  vim.lsp.buf.rename('FINISH')
  report.rename = wait(function() return table.concat(lines(), '\n'):find('FINISH:', 1, true) ~= nil end)
  report.renamed = vim.tbl_filter(function(line) return line:find('FINISH') ~= nil end, lines())

  go('%r9')
  vim.lsp.buf.code_action({
    apply = true,
    filter = function(action) return action.title:find('on this line', 1, true) ~= nil end,
  })
  report.code_action = wait(function()
    return table.concat(lines(), '\n'):find('ptx-lint: ignore[undeclared-name]', 1, true) ~= nil
  end)
  report.ignored = wait(function() return not has('undeclared-name') end)

  vim.lsp.buf.format({ timeout_ms = 60000 })
  report.formatted = vim.tbl_filter(function(line) return line:find('mul.wide', 1, true) ~= nil end, lines())[1]

  vim.lsp.inlay_hint.enable(true, { bufnr = 0 })
  report.inlay_hints = wait(function() return #vim.lsp.inlay_hint.get({ bufnr = 0 }) > 0 end)
  local hint = vim.lsp.inlay_hint.get({ bufnr = 0 })[1]
  report.inlay_hint = hint and hint.inlay_hint.label

  go('%f1, [')
  report.semantic_tokens = wait(function()
    local found = vim.lsp.semantic_tokens.get_at_pos()
    if found and #found > 0 then
      report.token = found[1].type
      return true
    end
  end)

  report.parser = vim.treesitter.language.add('ptx') == true
  vim.treesitter.get_parser(0, 'ptx'):parse(true)
  report.highlighter = vim.treesitter.highlighter.active[vim.api.nvim_get_current_buf()] ~= nil
  report.captures = {}
  for _, text in ipairs({ '.version', 'mul.wide', '%f1, [', '0f3F800000', 'FINISH:' }) do
    local at = find(text)
    local found = vim.treesitter.get_captures_at_pos(0, at[1] - 1, at[2])
    report.captures[text] = vim.tbl_map(function(one) return one.capture end, found)
  end

  client:stop()
  report.stopped = wait(function() return client:is_stopped() end)
end

local ok, message = xpcall(run, debug.traceback)
report.error = not ok and message or nil
local file = assert(io.open(out, 'w'))
file:write(vim.json.encode(report))
file:close()
vim.cmd('qa!')
