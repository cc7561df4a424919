[
  (block)
  (section)
  (aggregate)
  (initializer_list)
  (parameter_list)
] @indent.begin

["}" ")"] @indent.branch
["}" ")"] @indent.end

(label) @indent.dedent
