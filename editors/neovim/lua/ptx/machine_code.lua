-- :PtxMachineCode: source, PTX and machine code of the kernel at the cursor, side by side. Moving the cursor in one
-- window selects what belongs to its line in the others, and scrolls to it.
local M = {}
local space = vim.api.nvim_create_namespace('ptx_machine_code')

local function number(value)
  return type(value) == 'number' and value or nil
end

-- A window with lines that are no file.
local function listing(name, lines)
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  vim.bo[buffer].modifiable, vim.bo[buffer].bufhidden = false, 'wipe'
  pcall(vim.api.nvim_buf_set_name, buffer, name)
  return buffer
end

local function line_in(chain, file)
  for _, place in ipairs(chain or {}) do
    if place[1] == file then return place[2] end
  end
end

-- The column of windows: each has the source line and the PTX line of its own lines, from 0.
local function columns(answer, ptx)
  local file = 0
  local last = answer.lines[1] and answer.lines[1].source[#answer.lines[1].source]
  if last then file = last[1] end
  local found = { { window = ptx, buffer = vim.api.nvim_win_get_buf(ptx), ptx = {}, source = {} } }
  for _, one in ipairs(answer.lines) do
    found[1].ptx[one.line] = one.line
    found[1].source[one.line] = line_in(one.source, file)
  end
  local source = answer.sources[file + 1]
  local path = source and type(source.uri) == 'string' and vim.uri_to_fname(source.uri)
  if path and vim.fn.filereadable(path) == 1 then
    vim.cmd('leftabove vsplit ' .. vim.fn.fnameescape(path))
    local window = vim.api.nvim_get_current_win()
    local lines = setmetatable({}, { __index = function(_, line) return line end })
    table.insert(found, { window = window, buffer = vim.api.nvim_win_get_buf(window), source = lines, ptx = {} })
  end
  if type(answer.instructions) == 'table' then
    local column = { ptx = {}, source = {} }
    local lines = {}
    for index, one in ipairs(answer.instructions) do
      local live = type(one.live) == 'table' and one.live[1] or ''
      lines[index] = ('%04x %3s  %s'):format(one.address, live, one.text)
      column.ptx[index - 1], column.source[index - 1] = number(one.line), line_in(one.source, file)
    end
    column.buffer = listing('ptx://' .. answer.kernel, lines)
    vim.api.nvim_set_current_win(ptx)
    vim.cmd('rightbelow vsplit')
    column.window = vim.api.nvim_get_current_win()
    vim.api.nvim_win_set_buf(column.window, column.buffer)
    table.insert(found, column)
  end
  vim.api.nvim_set_current_win(ptx)
  return found
end

-- Marks the lines of another window that belong to a line, and scrolls to the first one.
local function mark(other, key, value)
  local first
  for line = 0, vim.api.nvim_buf_line_count(other.buffer) - 1 do
    if value ~= nil and other[key][line] == value then
      first = first or line
      vim.api.nvim_buf_set_extmark(other.buffer, space, line, 0, { line_hl_group = 'Visual' })
    end
  end
  if first and vim.api.nvim_win_is_valid(other.window) then
    vim.api.nvim_win_set_cursor(other.window, { first + 1, 0 })
    vim.api.nvim_win_call(other.window, function() vim.cmd('normal! zz') end)
  end
end

local function follow(found, from)
  local line = vim.api.nvim_win_get_cursor(from.window)[1] - 1
  for _, other in ipairs(found) do
    if vim.api.nvim_buf_is_valid(other.buffer) then
      vim.api.nvim_buf_clear_namespace(other.buffer, space, 0, -1)
      if other ~= from then
        local key = from.ptx[line] and next(other.ptx) and 'ptx' or 'source'
        mark(other, key, from[key][line])
      end
    end
  end
end

function M.show(answer, ptx)
  if type(answer.problem) == 'string' then
    vim.notify('ptx: no machine code: ' .. answer.problem, vim.log.levels.WARN)
  end
  local found = columns(answer, ptx)
  local group = vim.api.nvim_create_augroup('ptx_machine_code', { clear = true })
  for _, one in ipairs(found) do
    vim.api.nvim_create_autocmd('CursorMoved', {
      group = group,
      buffer = one.buffer,
      callback = function()
        if vim.api.nvim_get_current_win() == one.window then follow(found, one) end
      end,
    })
  end
  follow(found, found[1])
  return found
end

function M.open()
  local client = vim.lsp.get_clients({ bufnr = 0, name = 'ptx_lsp' })[1]
  if not client then
    return vim.notify('ptx: the language server is not running', vim.log.levels.WARN)
  end
  local window = vim.api.nvim_get_current_win()
  local params = vim.lsp.util.make_position_params(window, client.offset_encoding)
  client:request('ptx/machineCode', params, function(failure, answer)
    if failure or type(answer) ~= 'table' then
      vim.notify('ptx: ' .. (failure and failure.message or 'there is no kernel at the cursor'), vim.log.levels.WARN)
    else
      M.show(answer, window)
    end
  end)
end

return M
