-- For `vim.lsp.enable('ptx_lsp')` (Neovim 0.11 and later).
local root_markers = { 'ptx-lint.toml', 'pyproject.toml', '.git' }
-- A file in another language without any of these has no inline PTX.
local words = { '%f[%a]asm%f[^%a]', 'asmcall', 'InlineAsm', 'inline_asm', 'inline_ptx', 'inlined_assembly' }

local function may_have_ptx(buffer)
  if vim.bo[buffer].filetype == 'ptx' then
    return true
  end
  local text = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n')
  return vim.iter(words):any(function(word) return text:find(word) ~= nil end)
end

return {
  cmd = { 'ptx-lsp' },
  filetypes = { 'ptx', 'cuda', 'c', 'cpp', 'python', 'rust', 'julia', 'llvm', 'mlir', 'mojo' },
  -- Beside the server of the language: it is attached to files with inline PTX only.
  root_dir = function(buffer, attach)
    if may_have_ptx(buffer) then
      attach(vim.fs.root(buffer, root_markers))
    end
  end,
  settings = {
    ptx = {
      inlayHints = { liveRegisters = false, types = false, literals = true },
      codeLens = { enabled = true },
      inline = { enabled = true, off = {} },
    },
  },
}
