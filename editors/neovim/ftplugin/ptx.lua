vim.bo.commentstring = '// %s'
vim.bo.comments = 's1:/*,mb:*,ex:*/,://'
-- Registers such as %r1, labels such as $L__BB0_2 and opcodes with modifiers.
vim.opt_local.iskeyword:append({ '%', '$' })
vim.api.nvim_buf_create_user_command(0, 'PtxMachineCode', function() require('ptx.machine_code').open() end, {
  desc = 'Source, PTX and machine code of the kernel at the cursor, side by side',
})
if vim.treesitter.language.add('ptx') then
  vim.treesitter.start(0, 'ptx')
end
