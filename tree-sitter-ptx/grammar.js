/**
 * @file A tree-sitter grammar for NVIDIA PTX, versions 1.0 to 9.5.
 * @license Apache-2.0
 *
 * It knows shapes and names no opcode. It is total: what is not PTX becomes one of the nodes
 * `missing`, `missing_brace`, `junk` or `malformed_number`, put there by src/scanner.c, inside the
 * statement that is broken. So a broken statement never costs its neighbours, and an edit in a
 * broken file re-parses as fast as in a whole one.
 */

/// <reference types="tree-sitter-cli/dsl" />
// @ts-check

const PRECEDENCE = {
  ternary: 1,
  or: 2,
  and: 3,
  bit_or: 4,
  bit_xor: 5,
  bit_and: 6,
  equality: 7,
  comparison: 8,
  shift: 9,
  sum: 10,
  product: 11,
  unary: 12,
  suffix: 13,
  pair: 14,
};

const OPERATORS = [
  ['||', PRECEDENCE.or],
  ['&&', PRECEDENCE.and],
  ['|', PRECEDENCE.bit_or],
  ['^', PRECEDENCE.bit_xor],
  ['&', PRECEDENCE.bit_and],
  ['==', PRECEDENCE.equality],
  ['!=', PRECEDENCE.equality],
  ['<', PRECEDENCE.comparison],
  ['>', PRECEDENCE.comparison],
  ['<=', PRECEDENCE.comparison],
  ['>=', PRECEDENCE.comparison],
  ['<<', PRECEDENCE.shift],
  ['>>', PRECEDENCE.shift],
  ['+', PRECEDENCE.sum],
  ['-', PRECEDENCE.sum],
  ['*', PRECEDENCE.product],
  ['/', PRECEDENCE.product],
  ['%', PRECEDENCE.product],
];

/** `rule` or the mark of its absence. */
const wanted = ($, rule) => choice(rule, $.missing);
const listOf = (rule) => seq(rule, repeat(seq(',', rule)));
/** A list that may be empty: what is absent is then the closing bracket, not the first item. */
const perhapsListOf = ($, rule) => optional(seq(rule, repeat(seq(',', wanted($, rule)))));
/** A list between brackets; the closing bracket may be absent. */
const enclosed = ($, open, items, close) => seq(open, items, wanted($, close));

module.exports = grammar({
  name: 'ptx',

  // The scanner asks which of the plain tokens are possible, so they are listed here too; their
  // order is that of `enum Token` in src/scanner.c.
  externals: $ => [
    $.missing,
    $.missing_brace,
    $.junk,
    $._line_end,
    $._error_sentinel,
    $.identifier,
    $.modifier,
    $.integer,
    $.string,
    $.dwarf_line,
    ',', ';', ':', '{', '}', '(', ')', '[', ']', '@', '!', '=', '|', '<', '>',
    '+', '-', '*', '/', '%', '&', '^', '~', '?',
    '.param', '.entry', '.attribute', 'WARP_SZ',
  ],

  extras: $ => [/[ \t\n\f\r\x1A\uFEFF]/, $.comment, $.preprocessor_line],

  rules: {
    source_file: $ => repeat(choice($._statement, $.stray_brace)),

    stray_brace: _ => '}',

    _statement: $ => choice(
      $.empty_statement,
      $.label,
      $.instruction,
      $.block,
      $.declaration,
      $.aggregate,
      $.function,
      $.call_prototype,
      $.target_list,
      $.version,
      $.target,
      $.address_size,
      $.pragma,
      $.alias,
      $.file,
      $.location,
      $.intermediate_location,
      $.section,
      $.directive,
      $.dwarf_line,
      $.junk_statement,
    ),

    empty_statement: _ => ';',
    junk_statement: $ => prec.right(seq($.junk, optional(';'))),
    _end: $ => seq(optional($.junk), wanted($, ';')),

    label: $ => seq(field('name', $.identifier), ':'),
    block: $ => seq('{', repeat($._statement), choice('}', $.missing_brace)),

    // ---- instructions -------------------------------------------------------------------------

    instruction: $ => choice(
      seq(
        optional(field('guard', $.guard)),
        field('opcode', $.opcode),
        perhapsListOf($, field('operand', $._operand)),
        $._end,
      ),
      prec.right(seq(field('guard', $.guard), $.junk, optional(';'))),
      seq(field('guard', $.guard), $.block),
    ),
    guard: $ => seq('@', optional('!'), field('predicate', wanted($, choice($.identifier, $.member, $.element)))),
    // `ld.const[2].u32`: a bank of PTX 1.x to 2.1
    opcode: $ => seq(
      field('name', $.identifier), repeat(choice($.modifier, alias($._bank, $.modifier))),
    ),

    _operand: $ => choice($._expression, $.address, $.vector, $.pair),
    pair: $ => prec(PRECEDENCE.pair, seq(
      field('left', choice($.identifier, $.vector)), '|', field('right', wanted($, $.identifier)),
    )),
    address: $ => prec.right(seq(
      '[', listOf(wanted($, $._operand)), wanted($, ']'), optional($.modifier),
    )),
    vector: $ => enclosed($, '{', listOf(wanted($, $._operand)), '}'),

    // ---- expressions --------------------------------------------------------------------------

    _expression: $ => choice(
      $.identifier,
      $._number,
      $.string,
      $.member,
      $.element,
      $.unary_expression,
      $.binary_expression,
      $.conditional_expression,
      $.cast_expression,
      $.relocation,
      $.group,
    ),
    member: $ => prec(PRECEDENCE.suffix, seq(
      field('object', choice($.identifier, $.element)), repeat1(field('component', $.modifier)),
    )),
    element: $ => prec(PRECEDENCE.suffix, seq(
      field('array', $.identifier),
      repeat1(enclosed($, '[', field('index', wanted($, $._expression)), ']')),
    )),
    unary_expression: $ => prec(PRECEDENCE.unary, seq(
      field('operator', choice('-', '+', '!', '~')),
      field('value', wanted($, $._expression)),
    )),
    binary_expression: $ => choice(...OPERATORS.map(([operator, precedence]) =>
      prec.left(/** @type {number} */ (precedence), seq(
        field('left', $._expression),
        field('operator', /** @type {string} */ (operator)),
        field('right', wanted($, $._expression)),
      )))),
    conditional_expression: $ => prec.right(PRECEDENCE.ternary, seq(
      field('condition', $._expression), '?',
      field('then', wanted($, $._expression)), wanted($, ':'),
      field('otherwise', wanted($, $._expression)),
    )),
    cast_expression: $ => prec(PRECEDENCE.unary, seq(
      '(', field('type', $.modifier), wanted($, ')'), field('value', wanted($, $._expression)),
    )),
    // `generic(name)`, and the byte of an address: `0xFF00(name)`
    relocation: $ => prec(PRECEDENCE.suffix, seq(
      field('operator', choice($.identifier, $.integer)),
      enclosed($, '(', listOf(field('value', wanted($, $._expression))), ')'),
    )),
    group: $ => enclosed($, '(', perhapsListOf($, $._operand), ')'),

    // ---- declarations -------------------------------------------------------------------------

    declaration: $ => seq(
      repeat($.linkage),
      choice(
        field('space', $.space),
        seq(repeat1($._prefix), field('space', wanted($, $.space))),
      ),
      repeat($._specifier),
      listOf(wanted($, $.declarator)),
      $._end,
    ),
    linkage: _ => choice('.extern', '.visible', '.weak', '.common'),
    space: $ => prec.right(seq(
      choice('.reg', '.sreg', '.const', '.global', '.local', '.param', '.shared', '.tex', '.surf'),
      optional($.dimension),
    )),
    // `.f32[4] v` is how PTX 1.x wrote an array
    _specifier: $ => choice($._prefix, $._type),
    _prefix: $ => choice($.alignment, $.attribute),
    _type: $ => choice(prec.right(seq($.modifier, repeat($.dimension))), $.type_name),
    type_name: $ => prec(-1, $.identifier),
    alignment: $ => seq('.align', field('bytes', wanted($, $._count))),
    _count: $ => choice($._number, $.identifier), // `WARP_SZ`
    attribute: $ => seq('.attribute', wanted($, '('), listOf(wanted($, $.attribute_value)), wanted($, ')')),
    attribute_value: $ => seq($.modifier, optional(seq('(', listOf(wanted($, $._expression)), wanted($, ')')))),
    declarator: $ => seq(
      field('name', $.identifier),
      optional($.range),
      repeat($.dimension),
      optional(seq('=', field('initializer', wanted($, $._initializer)))),
    ),
    range: $ => seq('<', field('count', wanted($, $._count)), wanted($, '>')),
    dimension: $ => enclosed($, '[', optional(field('size', $._expression)), ']'),
    _initializer: $ => choice($._expression, $.initializer_list),
    initializer_list: $ => enclosed($, '{', perhapsListOf($, choice($._initializer, $.field_value)), '}'),
    // what a texture or sampler is like: `{ width = 4, filter_mode = linear }`
    field_value: $ => seq(field('name', $.identifier), '=', field('value', wanted($, $._initializer))),

    // PTX 1.x
    aggregate: $ => prec.right(seq(
      choice('.struct', '.union'),
      optional(field('name', $.identifier)),
      choice(
        seq(
          '{', repeat(choice($.field, $.aggregate, $.junk, $.empty_statement)),
          choice('}', $.missing_brace),
          perhapsListOf($, $.declarator),
          optional(';'),
        ),
        $._end,
      ),
    )),
    field: $ => prec.right(seq(
      repeat1($._specifier), listOf(wanted($, $.declarator)), optional(';'),
    )),

    // ---- functions ----------------------------------------------------------------------------

    // a kernel ends with its body or `;`, a function needs neither
    function: $ => choice(
      seq(
        repeat($.linkage), field('kind', '.entry'), $._header,
        choice(field('body', $.block), wanted($, ';')),
      ),
      prec.right(seq(
        repeat($.linkage), field('kind', '.func'), $._header,
        optional(choice(field('body', $.block), ';')),
      )),
    ),
    _header: $ => prec.right(seq(
      repeat($.attribute),
      optional(field('returns', $.parameter_list)),
      field('name', wanted($, $.identifier)),
      repeat($.dimension),
      optional(field('parameters', $.parameter_list)),
      repeat(choice($.function_directive, $.attribute, $.pragma)),
      optional($.junk),
    )),
    parameter_list: $ => enclosed($, '(', perhapsListOf($, $.parameter), ')'),
    parameter: $ => seq(
      choice(
        $._first_word,
        seq(repeat1($._prefix), wanted($, $._first_word)),
      ),
      repeat($._specifier),
      optional($.declarator),
    ),
    _first_word: $ => choice(field('space', $.space), $._type),
    // `.maxntid 256, 1, 1`, `.noreturn`, ... between the header and the body
    function_directive: $ => prec.right(seq(
      field('name', $.modifier),
      perhapsListOf($, $._argument),
    )),
    call_prototype: $ => seq(
      '.callprototype',
      optional(field('returns', $.parameter_list)),
      field('name', wanted($, $.identifier)),
      optional(field('parameters', $.parameter_list)),
      repeat($.function_directive),
      $._end,
    ),
    target_list: $ => seq(
      field('kind', choice('.branchtargets', '.calltargets')),
      listOf(wanted($, seq($.identifier, optional($.range)))),
      $._end,
    ),
    alias: $ => seq(
      '.alias', field('name', wanted($, $.identifier)), wanted($, ','),
      field('aliasee', wanted($, $.identifier)), $._end,
    ),

    // ---- directives ---------------------------------------------------------------------------

    version: $ => seq('.version', field('number', wanted($, $._number))),
    target: $ => seq('.target', listOf(field('name', wanted($, $.identifier)))),
    address_size: $ => seq('.address_size', field('bits', wanted($, $._number))),
    pragma: $ => seq('.pragma', listOf(wanted($, $.string)), $._end),
    file: $ => prec.right(seq(
      '.file', field('index', wanted($, $._number)), field('path', wanted($, $.string)),
      repeat(seq(',', wanted($, $._number))),
    )),
    location: $ => prec.right(seq(
      '.loc',
      field('file', wanted($, $._location_number)),
      field('line', wanted($, $._location_number)),
      field('column', wanted($, $._location_number)),
      repeat(seq(',', wanted($, $.location_attribute))),
    )),
    intermediate_location: $ => seq(
      '.loc_intermediate',
      wanted($, $._location_number), wanted($, $._location_number), wanted($, $._location_number),
    ),
    _location_number: $ => choice($._number, alias('WARP_SZ', $.identifier)),
    // `function_name $L__info_string0 + 4`, `function_name .debug_str` and `inlined_at 1 5 3`
    location_attribute: $ => prec.right(seq(
      field('name', $.identifier),
      choice(
        seq(field('value', choice($.identifier, $.modifier)), optional(seq('+', wanted($, $._number)))),
        repeat1(field('value', $._location_number)),
        $.missing,
      ),
    )),
    section: $ => seq(
      '.section',
      field('name', wanted($, choice($.modifier, $.identifier, $.string))),
      wanted($, '{'),
      repeat(choice($.data, alias($._data_label, $.label), $.junk)),
      choice('}', $.missing_brace),
    ),
    _data_label: $ => seq(field('name', $.identifier), wanted($, ':')),
    data: $ => prec.right(seq(
      field('type', $.modifier),
      listOf(wanted($, choice($._data_value, alias($._data_sum, $.binary_expression)))),
    )),
    // no components: the next line may begin with `.b8`
    _data_value: $ => choice($._number, $.identifier, $.modifier, $.string, alias($._negative, $.unary_expression)),
    _negative: $ => seq(field('operator', '-'), field('value', wanted($, $._number))),
    _data_sum: $ => seq(
      field('left', $._data_value),
      repeat1(seq(field('operator', choice('+', '-')), field('right', wanted($, $._data_value)))),
    ),

    // Any other directive: one line, or up to `;`.
    directive: $ => choice(
      seq(
        repeat($.linkage),
        field('name', $.modifier),
        repeat($._argument),
        repeat(seq(',', choice(repeat1($._argument), $.missing))),
        optional($.junk),
        choice(';', $._line_end),
      ),
      seq(repeat1($.linkage), $._end), // that applies to nothing
    ),
    _argument: $ => choice($._number, $.string, $.identifier),

    // ---- tokens -------------------------------------------------------------------------------

    // `%` alone is the remainder operator
    identifier: _ => /[A-Za-z_][A-Za-z0-9_$]*|[$%][A-Za-z0-9_$]+/,
    _bank: _ => /\.const\[([0-9]|[1-9][0-9])\]/,
    modifier: _ => /\.[A-Za-z0-9_]+(::[A-Za-z0-9_]+(:[0-9]+)?)*/, // `.L1::evict_last`, `.sp::2:4`

    _number: $ => choice($.integer, $.float, $.exact_float, $.malformed_number),
    integer: _ => /0[xX][0-9A-Fa-f]+U?|0[bB][01]+U?|0[0-7]*U?|[1-9][0-9]*U?/,
    float: _ => /[0-9]+\.[0-9]*([eE][+-]?[0-9]+)?|\.[0-9]+([eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+/,
    exact_float: _ => /0[fF][0-9A-Fa-f]{8}|0[dD][0-9A-Fa-f]{16}/,
    malformed_number: _ => /[0-9][A-Za-z0-9_$]*/,

    // no escapes; the scanner sees to it that an unclosed one stays on its line
    string: _ => /"[^"]*"/,
    dwarf_line: _ => /@@[^\n]*/,
    comment: _ => token(choice(/\/\/[^\n]*/, /\/\*[^*]*\*+([^/*][^*]*\*+)*\//)),
    preprocessor_line: _ => /#[^\n]*/,
  },
});
