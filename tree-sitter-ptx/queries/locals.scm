(function) @local.scope
(block) @local.scope

(function name: (identifier) @local.definition.function)
(parameter (declarator name: (identifier) @local.definition.parameter))
(declaration (declarator name: (identifier) @local.definition.var))
(label name: (identifier) @local.definition)

(identifier) @local.reference
