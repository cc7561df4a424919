-- Debugs kernels in Neovim with nvim-dap, as a person would, and writes what came of it to a file of JSON. Run by
-- test_nvim_dap.py.
local dap = require('dap')
local report = {}
local stop

dap.listeners.after.event_stopped.test = function(_, body) stop = body end

local function wait(what, predicate)
  if not vim.wait(120000, predicate, 20) then error('waited in vain for ' .. what) end
end

local function move(step)
  local before = dap.session() and dap.session().current_frame
  stop = nil
  step()
  wait('a stop', function()
    local frame = dap.session() and dap.session().current_frame
    return stop and frame and frame ~= before and frame.scopes and #frame.scopes > 0
  end)
  return stop
end

local function asked(command, arguments)
  local answer, problem
  dap.session():request(command, arguments, function(err, found)
    problem = err and (err.message or tostring(err))
    answer = found
  end)
  wait(command, function() return answer or problem end)
  return answer or error(command .. ': ' .. problem)
end

local function line() return dap.session().current_frame.line end

local function breakpoint(number)
  vim.api.nvim_win_set_cursor(0, { number, 0 })
  dap.set_breakpoint()
end

local function open(name, configuration)
  vim.cmd.edit(vim.env.PTX_FOLDER .. '/' .. name)
  report.filetype = vim.bo.filetype
  return function() dap.run(configuration or dap.configurations.ptx[1]) end
end

local function finish()
  dap.terminate()
  wait('the end', function() return dap.session() == nil end)
  dap.clear_breakpoints()
end

local function variables(name)
  for _, scope in ipairs(dap.session().current_frame.scopes) do
    if scope.name == name then
      local found = {}
      for _, one in ipairs(asked('variables', { variablesReference = scope.variablesReference }).variables) do
        found[one.name] = one
      end
      return found
    end
  end
end

local function divergence()
  local start = open('divergent.ptx')
  breakpoint(tonumber(vim.env.PTX_BRANCH))
  report.branch = { reason = move(start).reason, line = line(), cursor = vim.api.nvim_win_get_cursor(0)[1] }
  move(dap.step_over)
  report.groups, report.threads = {}, {}
  wait('new threads', function() return vim.tbl_count(dap.session().threads) == 2 end)
  for _, thread in pairs(asked('threads').threads) do
    local frames = asked('stackTrace', { threadId = thread.id }).stackFrames
    table.insert(report.groups, { name = thread.name, line = frames[1].line })
  end
  breakpoint(tonumber(vim.env.PTX_JOIN))
  move(dap.continue)
  local register = variables('Warp')['%r1']
  report.lanes = vim.tbl_map(function(one) return one.value end,
    asked('variables', { variablesReference = register.variablesReference }).variables)
  finish()
end

local function time()
  local start = open('shared.ptx')
  breakpoint(tonumber(vim.env.PTX_LOAD))
  move(start)
  report.back = {}
  for _ = 1, 4 do
    move(dap.step_back)
    table.insert(report.back, line())
  end
  move(dap.continue)
  local watched = asked('dataBreakpointInfo', { name = 'shared:0:0x14', asAddress = true, bytes = 1 })
  asked('setDataBreakpoints', { breakpoints = { { dataId = watched.dataId, accessType = 'write' } } })
  local writer = move(dap.reverse_continue)
  report.writer = { reason = writer.reason, text = writer.text }

  -- a register is changed, and the kernel goes on
  asked('setDataBreakpoints', { breakpoints = {} })
  move(dap.continue)
  report.result = {}
  breakpoint(tonumber(vim.env.PTX_RESULT))
  move(dap.continue)
  report.changed = asked('setExpression', {
    expression = '%r5@lane 3', value = '777', frameId = dap.session().current_frame.id,
  }).value
  move(dap.step_over)
  report.result = asked('evaluate', {
    expression = '[[out]:u64 + 8]:u32x2', frameId = dap.session().current_frame.id,
  }).result
  finish()
end

local function race()
  local start = open('race.ptx')
  local stopped = move(start)
  report.race = { reason = stopped.reason, text = stopped.text, line = line() }
  report.witness = asked('exceptionInfo', { threadId = stopped.threadId }).details.stackTrace
  wait('diagnostics', function() return #vim.diagnostic.get(0) > 0 end)
  report.shown = vim.diagnostic.get(0)[1].message
  finish()
end

local function member()
  local start = open('divergent.ptx', vim.tbl_extend('force', dap.configurations.ptx[1], {
    program = vim.env.PTX_FOLDER .. '/two.fatbin!2', stopOnEntry = true,
  }))
  move(start)
  wait('the text of the member', function() return vim.api.nvim_buf_get_name(0):find('dap%-src') end)
  wait('the text of the member', function() return vim.api.nvim_buf_line_count(0) > 5 end)
  report.member = { name = vim.api.nvim_buf_get_name(0), filetype = vim.bo.filetype, line = line(),
    text = vim.api.nvim_buf_get_lines(0, 0, -1, false) }
  breakpoint(tonumber(vim.env.PTX_RESULT))
  move(dap.continue)
  report.member.stop = line()
  finish()
end

local ok, problem = xpcall(function()
  divergence()
  time()
  race()
  member()
end, debug.traceback)
report.problem = not ok and problem or nil
vim.fn.writefile({ vim.json.encode(report) }, vim.env.PTX_REPORT)
vim.cmd.qall({ bang = true })
