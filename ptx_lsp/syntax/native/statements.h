/* Regular instructions, labels, `.loc` and declarations. NULL without an exception: not regular. */

#ifndef PTX_STATEMENTS_H
#define PTX_STATEMENTS_H

#include "operands.h"

enum { SLOTS = 5 };

/* The offset behind an opcode with modifiers: `ld.global.L2::64B`, `.level::eviction:1`. It stops where a word
 * is none: to pass `a:b:c:` at each of its labels would take time in proportion to the square. */
static Py_ssize_t skip_opcode(const Scanner *s, Py_ssize_t start) {
  Py_ssize_t position = skip_name(s, start);
  while (at(s, position) == '.' && is(at(s, position + 1), WORD)) {
    position = skip(s, position + 1, WORD);
    while (at(s, position) == ':' && at(s, position + 1) == ':' && is(at(s, position + 2), WORD)) {
      position = skip(s, position + 2, WORD);
      if (at(s, position) == ':' && is(at(s, position + 1), DIGIT)) position = skip(s, position + 1, DIGIT);
    }
  }
  return position;
}

static PyObject *instruction_node(Scanner *s, Py_ssize_t position) {
  Py_ssize_t base = s->base, start = position, predicate = 0, predicate_end = 0;
  int negated = 0, has_member = 0, count = 0;
  if (at(s, position) == '@') {
    negated = at(s, position + 1) == '!';
    predicate = position + 1 + negated;
    predicate_end = predicate;
    while (is(at(s, predicate_end), WORD | OTHER_NAME)) predicate_end++;
    position = skip(s, predicate_end, BLANK);
    if (position == predicate_end || !is_name(s, predicate, predicate_end)) return NULL;
  }
  if (!is(at(s, position), LETTER)) return NULL;
  Py_ssize_t opcode = position, opcode_end = position = skip_opcode(s, position);
  /* the extents of all operands and the `;` come first: most of what is no instruction fails here */
  Py_ssize_t extents[SLOTS][2], rest = 0;
  Py_ssize_t next = skip(s, position, LINE);
  if (next > position && skip_operand(s, next) > next) {
    for (;;) {
      Py_ssize_t stop = skip_operand(s, next);
      if (stop == next) return NULL;
      if (count < SLOTS) {
        extents[count][0] = next;
        extents[count][1] = stop;
      } else if (count == SLOTS) {
        rest = next;
      }
      count++;
      position = skip(s, stop, LINE);
      if (at(s, position) != ',') break;
      next = skip(s, position + 1, LINE);
    }
  } else {
    position = next;
  }
  if (at(s, position) != ';') return NULL;
  Py_ssize_t end = position + 1;
  PyObject *operands = PyTuple_New(count);
  if (operands == NULL) return NULL;
  for (int n = 0; n < count; n++) {
    Py_ssize_t first, stop;
    if (n < SLOTS) {
      first = extents[n][0];
      stop = extents[n][1];
    } else {
      first = rest;
      stop = skip_operand(s, rest);
      rest = skip(s, skip(s, stop, LINE) + 1, LINE);
    }
    PyObject *operand = operand_node(s, first, stop);
    if (operand == NULL) {
      Py_DECREF(operands);
      return NULL;
    }
    has_member |= Py_TYPE(operand) == MEMBER.type;
    PyTuple_SetItem(operands, n, operand);
  }
  /* `membar.gl` on a line of its own may begin a statement */
  if ((has_member || count > SLOTS) && memchr(s->text + opcode, '\n', end - opcode) != NULL) {
    Py_DECREF(operands);
    return NULL;
  }
  s->end = end;
  PyObject *guard = NONE;
  if (predicate) {
    Py_DECREF(guard);
    guard = NEW_NODE(
        GUARD, start - base, predicate_end - base, new_reference(negated ? Py_True : Py_False),
        name_node(s, predicate, predicate_end));
  }
  return NEW_NODE(
      INSTRUCTION, start - base, end - base, guard,
      NEW_NODE(OPCODE, opcode - base, opcode_end - base, piece(s, opcode, opcode_end), NONE), operands);
}

static PyObject *label_node(Scanner *s, Py_ssize_t start) {
  Py_ssize_t end = skip_name(s, start), colon = skip(s, end, BLANK);
  if (end == start || at(s, colon) != ':' || at(s, colon + 1) == ':') return NULL;
  if (is_equal(s, start, end, "WARP_SZ")) return NULL; /* behind a `.loc`, that is a number */
  s->end = colon + 1;
  return NEW_NODE(LABEL, start - s->base, colon + 1 - s->base, name_node(s, start, end));
}

/* Whole numbers with blanks before each; false if there are fewer than `count`. */
static int find_wholes(const Scanner *s, Py_ssize_t *position, Py_ssize_t (*extents)[2], int count) {
  for (int n = 0; n < count; n++) {
    Py_ssize_t start = skip(s, *position, BLANK), end = skip_whole(s, start);
    if (start == *position || end == start) return 0;
    extents[n][0] = start;
    extents[n][1] = *position = end;
  }
  return 1;
}

static PyObject *whole_nodes(const Scanner *s, Py_ssize_t (*extents)[2], int count) {
  PyObject *found = PyTuple_New(count);
  for (int n = 0; found != NULL && n < count; n++) {
    PyObject *number = whole_node(s, extents[n][0], extents[n][1]);
    if (number == NULL) Py_CLEAR(found);
    else PyTuple_SetItem(found, n, number);
  }
  return found;
}

/* `function_name label+4, inlined_at 1 2 3` behind the comma at `position`. */
static PyObject *attribute_nodes(Scanner *s, Py_ssize_t position) {
  Py_ssize_t base = s->base, place[3][2], offset = 0, offset_end = 0;
  Py_ssize_t function = skip(s, position + 1, BLANK), function_end = function + 13;
  if (!starts(s, function, "function_name")) return NULL;
  Py_ssize_t label = skip(s, function_end, BLANK), label_end = skip_name(s, label);
  if (label == function_end || label_end == label) return NULL;
  if (is_equal(s, label, label_end, "_") || is_equal(s, label, label_end, "function_name") ||
      is_equal(s, label, label_end, "inlined_at"))
    return NULL;
  Py_ssize_t values_end = position = label_end;
  Py_ssize_t plus = skip(s, position, BLANK);
  if (at(s, plus) == '+') {
    offset = skip(s, plus + 1, BLANK);
    offset_end = skip_whole(s, offset);
    if (offset_end == offset) return NULL;
    values_end = position = offset_end;
  }
  position = skip(s, position, BLANK);
  if (at(s, position) != ',') return NULL;
  Py_ssize_t inlined = skip(s, position + 1, BLANK), inlined_end = inlined + 10;
  if (!starts(s, inlined, "inlined_at")) return NULL;
  position = inlined_end;
  if (!find_wholes(s, &position, place, 3)) return NULL;
  s->end = position;
  PyObject *values = PyTuple_New(offset ? 2 : 1);
  if (values != NULL) {
    PyTuple_SetItem(values, 0, name_node(s, label, label_end));
    if (offset) PyTuple_SetItem(values, 1, whole_node(s, offset, offset_end));
    if (PyErr_Occurred()) Py_CLEAR(values);
  }
  PyObject *found = PyTuple_New(2);
  PyObject *first = NEW_NODE(
      LOCATION_ATTRIBUTE, function - base, values_end - base, name_node(s, function, function_end), values);
  PyObject *second = NEW_NODE(
      LOCATION_ATTRIBUTE, inlined - base, position - base, name_node(s, inlined, inlined_end),
      whole_nodes(s, place, 3));
  if (found == NULL || first == NULL || second == NULL) {
    Py_XDECREF(first);
    Py_XDECREF(second);
    Py_XDECREF(found);
    return NULL;
  }
  PyTuple_SetItem(found, 0, first);
  PyTuple_SetItem(found, 1, second);
  return found;
}

static PyObject *location_node(Scanner *s, Py_ssize_t start) {
  Py_ssize_t position = start + 4, numbers[3][2];
  if (!find_wholes(s, &position, numbers, 3)) return NULL;
  PyObject *attributes = NULL;
  s->end = position;
  if (at(s, position) == ',') attributes = attribute_nodes(s, position);
  else attributes = NO_ITEMS;
  if (attributes == NULL) return NULL;
  return NEW_NODE(
      LOCATION, start - s->base, s->end - s->base, whole_node(s, numbers[0][0], numbers[0][1]),
      whole_node(s, numbers[1][0], numbers[1][1]), whole_node(s, numbers[2][0], numbers[2][1]), attributes);
}

static PyObject *pragma_node(Scanner *s, Py_ssize_t start) {
  Py_ssize_t base = s->base, name_end = start + 7, first = skip(s, name_end, BLANK);
  if (first == name_end || at(s, first) != '"') return NULL;
  Py_ssize_t last = first + 1;
  while (last < s->size && at(s, last) != '"' && at(s, last) != '\n') last++;
  if (at(s, last) != '"') return NULL;
  last++;
  Py_ssize_t end = skip(s, last, BLANK);
  if (at(s, end) != ';') return NULL;
  s->end = ++end;
  PyObject *text = PyUnicode_DecodeLatin1(s->text + first, last - first, NULL);
  PyObject *value = NEW_NODE(STRING, first - base, last - base, text);
  PyObject *arguments = value == NULL ? NULL : PyTuple_New(1);
  if (arguments != NULL) PyTuple_SetItem(arguments, 0, value);
  else Py_XDECREF(value);
  return NEW_NODE(DIRECTIVE, start - base, end - base, NO_ITEMS, name_node(s, start, name_end), arguments);
}

/* -- declarations ------------------------------------------------------------------------------------------- */

static const char *const SPACES[] = {".reg", ".local", ".shared", ".param", ".global", NULL};
static const char *const POINTED[] = {".global", ".shared", ".local", ".const", NULL};

/* Which of some words begins at an offset; NULL if none. */
static const char *one_of(const Scanner *s, Py_ssize_t position, const char *const *words) {
  for (; *words != NULL; words++)
    if (starts(s, position, *words)) return *words;
  return NULL;
}

/* The offset behind `.u32`, `.pred`, ...; `position` itself if there is no such type. */
static Py_ssize_t skip_type(const Scanner *s, Py_ssize_t position) {
  static const char *const others[] = {".pred", ".b128", ".f16x2", NULL};
  Py_ssize_t stop = skip(s, position + 1, WORD);
  if (at(s, position) != '.') return position;
  const char *other = one_of(s, position, others);
  if (other != NULL && stop - position == (Py_ssize_t)strlen(other)) return stop;
  unsigned char letter = at(s, position + 1);
  if (letter != 'b' && letter != 's' && letter != 'u' && letter != 'f') return position;
  static const char *const widths[] = {"8", "16", "32", "64"};
  for (int n = 0; n < 4; n++)
    if (is_equal(s, position + 2, stop, widths[n])) return stop;
  return position;
}

/* ` .align 8`, if it is there; false if the number is not regular. */
static void find_alignment(const Scanner *s, Py_ssize_t *position, Py_ssize_t *extent) {
  Py_ssize_t start = skip(s, *position, BLANK);
  if (!starts(s, start, ".align")) return;
  Py_ssize_t number = skip(s, start + 6, BLANK), end = skip_whole(s, number);
  if (number == start + 6 || end == number) return;
  extent[0] = number;
  extent[1] = *position = end;
}

/* `name<8>`, `name[4]` or `name`; `*position` is behind it then. */
static PyObject *declarator_node(const Scanner *s, Py_ssize_t *position, int in_list) {
  Py_ssize_t base = s->base, start = *position, end = skip_name(s, start), behind = end;
  if (end == start) return NULL;
  unsigned char open = at(s, end);
  Py_ssize_t number = end + 1, number_end = number;
  if (open == '<' || open == '[') {
    number_end = skip_whole(s, number);
    if (number_end > number && at(s, number_end) == (open == '<' ? '>' : ']')) behind = number_end + 1;
  }
  if (behind == end) open = 0;
  if (open == '<' && in_list) return NULL;
  PyObject *range = open == '<' ? whole_node(s, number, number_end) : NONE;
  PyObject *dimensions = NO_ITEMS;
  if (open == '[') {
    Py_DECREF(dimensions);
    Py_ssize_t extent[1][2] = {{number, number_end}};
    dimensions = whole_nodes(s, extent, 1);
  }
  *position = behind;
  return NEW_NODE(
      DECLARATOR, start - base, behind - base, name_node(s, start, end), range, dimensions, NONE);
}

/* A declaration that ends with `;`, or one parameter of a list. */
static PyObject *declaration_node(Scanner *s, Py_ssize_t start, int in_list) {
  Py_ssize_t base = s->base, alignment[2] = {0, 0}, pointed_alignment[2] = {0, 0};
  const char *space = one_of(s, start, SPACES);
  if (space == NULL) return NULL;
  Py_ssize_t space_end = start + (Py_ssize_t)strlen(space), position = space_end;
  if (is(at(s, position), WORD)) return NULL;
  find_alignment(s, &position, alignment);
  Py_ssize_t words[4][2];
  int count = 0;
  Py_ssize_t word = skip(s, position, BLANK);
  if (starts(s, word, ".v") && strchr("248", at(s, word + 2)) != NULL && at(s, word + 2)) {
    words[count][0] = word;
    words[count++][1] = position = word + 3;
    word = skip(s, position, BLANK);
  }
  position = skip_type(s, word);
  if (position == word) return NULL;
  words[count][0] = word;
  words[count++][1] = position;
  word = skip(s, position, BLANK);
  if (starts(s, word, ".ptr")) {
    if (!in_list) return NULL;
    words[count][0] = word;
    words[count++][1] = position = word + 4;
    word = skip(s, position, BLANK);
    const char *pointed = one_of(s, word, POINTED);
    if (pointed != NULL) {
      words[count][0] = word;
      words[count++][1] = position = word + (Py_ssize_t)strlen(pointed);
    }
    find_alignment(s, &position, pointed_alignment);
    if (alignment[1] && pointed_alignment[1]) return NULL;
  }
  Py_ssize_t name = skip(s, position, BLANK);
  if (name == position) return NULL;
  PyObject *declarators = PyList_New(0);
  if (declarators == NULL) return NULL;
  Py_ssize_t end = position = name;
  for (;;) {
    if (!appended(declarators, declarator_node(s, &position, in_list))) break;
    end = position;
    if (in_list) goto done;
    position = skip(s, position, BLANK);
    unsigned char mark = at(s, position);
    if (mark == ';') {
      end = position + 1;
      goto done;
    }
    if (mark != ',') break;
    position = skip(s, position + 1, LINE);
  }
  Py_DECREF(declarators);
  return NULL;
done:
  s->end = end;
  PyObject *modifiers = PyTuple_New(count);
  for (int n = 0; modifiers != NULL && n < count; n++) {
    PyObject *modifier = name_node(s, words[n][0], words[n][1]);
    if (modifier == NULL) Py_CLEAR(modifiers);
    else PyTuple_SetItem(modifiers, n, modifier);
  }
  Py_ssize_t *aligned = alignment[1] ? alignment : pointed_alignment;
  return NEW_NODE(
      DECLARATION, start - base, end - base, NO_ITEMS, name_node(s, start, space_end), NONE, modifiers, NONE,
      aligned[1] ? whole_node(s, aligned[0], aligned[1]) : NONE, NO_ITEMS, frozen(declarators));
}

/* -- any statement ------------------------------------------------------------------------------------------ */

/* The statement behind blanks and comments. NULL also for `{` and `}`, which `brace` tells then. */
static PyObject *statement_node(Scanner *s, Py_ssize_t position) {
  s->brace = 0;
  position = skip_gap(s, position);
  unsigned char first = at(s, position);
  if (first == '{' || first == '}') {
    s->brace = (char)first;
    s->end = position + 1;
    return NULL;
  }
  if (first == '.') {
    if (starts(s, position, ".loc") && is(at(s, position + 4), BLANK)) return location_node(s, position);
    if (starts_word(s, position, ".pragma")) return pragma_node(s, position);
    return declaration_node(s, position, 0);
  }
  PyObject *found = instruction_node(s, position);
  return found == NULL && !PyErr_Occurred() ? label_node(s, position) : found;
}

#endif
