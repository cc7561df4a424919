[
  (block)
  (section)
  (aggregate)
  (initializer_list)
  (parameter_list)
] @fold
