/* The names in operands and their symbols. Functions return -1 or NULL with an exception set. */

#ifndef PTX_NAMES_H
#define PTX_NAMES_H

#include "objects.h"

/* -- the names of an operand -------------------------------------------------------------------------------- */

typedef int (*Visit)(void *state, PyObject *name);

enum { MOST_INNER = 3 };

/* The fields with the parts of a node that may have names, in text order. */
static const struct {
  const NodeClass *class;
  int count, fields[MOST_INNER];
} INNER[] = {
    {&ADDRESS, 1, {0}},    {&BINARY, 2, {1, 2}},         {&VECTOR, 1, {0}},  {&GROUP, 1, {0}},
    {&MEMBER, 1, {0}},     {&PAIR, 2, {0, 1}},           {&UNARY, 1, {1}},   {&CAST, 1, {1}},
    {&ELEMENT, 2, {0, 1}}, {&CONDITIONAL, 3, {0, 1, 2}}, {&RELOCATION, 1, {1}}, {&INITIALIZER_LIST, 1, {0}}};

/* Visits the names of an expression, in text order. */
static int visit_names(PyObject *value, Visit visit, void *state) {
  if (is_a(value, &NAME)) return visit(state, value);
  if (is_a(value, &NUMBER)) return 0;
  size_t kind = 0;
  while (kind < COUNT(INNER) && !is_a(value, INNER[kind].class)) kind++;
  if (kind == COUNT(INNER)) return 0;
  if (Py_EnterRecursiveCall(" in an expression")) return -1;
  int failed = 0;
  for (int n = 0; !failed && n < INNER[kind].count; n++) {
    PyObject *inner = get(value, INNER[kind].class->offsets[INNER[kind].fields[n]]);
    if (!PyTuple_Check(inner)) {
      failed = visit_names(inner, visit, state) < 0;
      continue;
    }
    Py_ssize_t count = PyTuple_Size(inner);
    for (Py_ssize_t item = 0; !failed && item < count; item++)
      failed = visit_names(PyTuple_GetItem(inner, item), visit, state) < 0;
  }
  Py_LeaveRecursiveCall();
  return failed ? -1 : 0;
}

static int append_name(void *list, PyObject *name) { return PyList_Append(list, name); }

static PyObject *core_names_in(PyObject *Py_UNUSED(module), PyObject *value) {
  if (!are_classes_known()) return NULL;
  PyObject *found = PyList_New(0);
  if (found != NULL && visit_names(value, append_name, found) < 0) Py_CLEAR(found);
  return found;
}

/* -- ranges ------------------------------------------------------------------------------------------------- */

/* The position in a range that the digits of a name give. ptxas counts in 32 bits: `%r4294967299` is `%r3`. */
static int range_position(const char *digits, Py_ssize_t count, uint32_t *position) {
  *position = 0;
  for (Py_ssize_t n = 0; n < count; n++) {
    if (digits[n] < '0' || digits[n] > '9') {
      PyErr_SetString(PyExc_ValueError, "the name is not one of the range");
      return -1;
    }
    *position = *position * 10 + (uint32_t)(digits[n] - '0');
  }
  return 0;
}

static int position_in_range(PyObject *name, PyObject *base, uint32_t *position) {
  Py_ssize_t size, base_size;
  const char *text = PyUnicode_AsUTF8AndSize(name, &size);
  if (text == NULL || PyUnicode_AsUTF8AndSize(base, &base_size) == NULL) return -1;
  return base_size < size ? range_position(text + base_size, size - base_size, position) : (*position = 0, 0);
}

static PyObject *core_range_index(PyObject *Py_UNUSED(module), PyObject *const *given, Py_ssize_t count) {
  uint32_t position;
  if (!are_valid(count == 2, "range_index") || position_in_range(given[0], given[1], &position) < 0) return NULL;
  return PyLong_FromUnsignedLong(position);
}

/* The symbol of a range under the name of one of its members. */
static PyObject *new_member(PyObject *declared, PyObject *name) {
  const NodeClass *class = is_a(declared, &REGISTER) ? &REGISTER : &VARIABLE;
  PyObject *found = is_a(declared, class) ? PyType_GenericAlloc(class->type, 0) : NULL;
  if (found == NULL) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "a range of neither registers nor variables");
    return NULL;
  }
  set_field(found, class->offsets[0], new_reference(name));
  set_field(found, class->offsets[1], new_reference(Py_False));
  for (int field = 2; class->fields[field] != NULL; field++)
    set_field(found, class->offsets[field], new_reference(get(declared, class->offsets[field])));
  return found;
}

static PyObject *core_member(PyObject *Py_UNUSED(module), PyObject *const *given, Py_ssize_t count) {
  if (!are_classes_known() || !are_valid(count == 2 && is_a(given[0], &RANGE) && PyUnicode_Check(given[1]), "member"))
    return NULL;
  return new_member(get(given[0], RANGE.offsets[0]), given[1]);
}

/* A name without the digits at its end; NULL without an exception if it has none. */
static PyObject *base_of(PyObject *name) {
  Py_ssize_t size, base_size;
  const char *text = PyUnicode_AsUTF8AndSize(name, &size);
  if (text == NULL) {
    if (PyErr_ExceptionMatches(PyExc_UnicodeError)) PyErr_Clear(); /* no declaration has such a name */
    return NULL;
  }
  for (base_size = size; base_size && text[base_size - 1] >= '0' && text[base_size - 1] <= '9'; base_size--) continue;
  return base_size == size ? NULL : PyUnicode_FromStringAndSize(text, base_size);
}

/* The member of one of the ranges that a name refers to, which becomes a name of its own: a borrowed
 * reference; NULL without an exception if there is none. */
static PyObject *find_member(PyObject *names, PyObject *ranges, PyObject *name) {
  PyObject *base = base_of(name), *range = base == NULL ? NULL : look_up(ranges, base);
  uint32_t position = 0;
  int failed = range == NULL || !is_a(range, &RANGE) || position_in_range(name, base, &position) < 0;
  Py_XDECREF(base);
  if (failed) return NULL;
  unsigned long long members = PyLong_AsUnsignedLongLong(get(range, RANGE.offsets[1]));
  if (PyErr_Occurred() || position >= members) return NULL;
  PyObject *found = new_member(get(range, RANGE.offsets[0]), name);
  if (found == NULL) return NULL;
  failed = PyDict_SetItem(names, name, found);
  Py_DECREF(found); /* `names` has it */
  return failed ? NULL : found;
}

/* -- scopes ------------------------------------------------------------------------------------------------- */

/* The symbol of a name in one block: a borrowed reference; NULL without an exception if there is none. */
static PyObject *find_here(PyObject *scope, PyObject *name) {
  PyObject *names = get(scope, SCOPE.offsets[3]), *ranges = get(scope, SCOPE.offsets[4]);
  PyObject *found = look_up(names, name);
  if (found != NULL || PyErr_Occurred() || PyDict_Size(ranges) <= 0) return found;
  return find_member(names, ranges, name);
}

/* The same in that block and those around it. */
static PyObject *find(PyObject *scope, PyObject *name) {
  while (is_a(scope, &SCOPE)) {
    PyObject *found = find_here(scope, name);
    if (found != NULL || PyErr_Occurred()) return found;
    scope = get(scope, SCOPE.offsets[0]);
  }
  return NULL;
}

static PyObject *found_in_scope(
    PyObject *(*search)(PyObject *, PyObject *), PyObject *const *given, Py_ssize_t count, const char *function) {
  if (!are_classes_known() || !are_valid(count == 2 && is_a(given[0], &SCOPE) && PyUnicode_Check(given[1]), function))
    return NULL;
  PyObject *found = search(given[0], given[1]);
  if (found != NULL) return new_reference(found);
  return PyErr_Occurred() ? NULL : NONE;
}

static PyObject *core_find(PyObject *Py_UNUSED(module), PyObject *const *given, Py_ssize_t count) {
  return found_in_scope(find, given, count, "find");
}

static PyObject *core_find_here(PyObject *Py_UNUSED(module), PyObject *const *given, Py_ssize_t count) {
  return found_in_scope(find_here, given, count, "find_here");
}

/* -- resolving ---------------------------------------------------------------------------------------------- */

typedef struct {
  PyObject *scope;
  PyObject *visible; /* the symbols of other names that were looked up since the last declaration */
  PyObject *symbols; /* of all names, by start */
  PyObject *missing; /* called for a name that the scope does not have */
} Resolving;

static int resolve_name(void *state, PyObject *name) {
  const Resolving *r = state;
  PyObject *text = TEXT_OF(name), *start = START_OF(name), *symbol = look_up(get(r->scope, SCOPE.offsets[3]), text);
  if (symbol == NULL && !PyErr_Occurred()) symbol = look_up(r->visible, text);
  if (symbol == NULL && !PyErr_Occurred()) symbol = find_here(r->scope, text);
  if (symbol != NULL) return PyDict_SetItem(r->symbols, start, symbol);
  if (PyErr_Occurred()) return -1;
  symbol = find(get(r->scope, SCOPE.offsets[0]), text);
  if (symbol != NULL) Py_INCREF(symbol);
  else if (PyErr_Occurred()) return -1;
  else symbol = PyObject_CallFunctionObjArgs(r->missing, name, r->scope, NULL);
  if (symbol == NULL) return -1;
  int failed = 0;
  if (symbol != Py_None)
    failed = PyDict_SetItem(r->visible, text, symbol) < 0 || PyDict_SetItem(r->symbols, start, symbol) < 0;
  Py_DECREF(symbol);
  return failed ? -1 : 0;
}

static int resolve_instruction(Resolving *r, PyObject *node) {
  PyObject *guard = get(node, INSTRUCTION.offsets[0]), *operands = get(node, INSTRUCTION.offsets[2]);
  if (is_a(guard, &GUARD) && visit_names(get(guard, GUARD.offsets[1]), resolve_name, r) < 0) return -1;
  Py_ssize_t count = PyTuple_Size(operands);
  for (Py_ssize_t n = 0; n < count; n++)
    if (visit_names(PyTuple_GetItem(operands, n), resolve_name, r) < 0) return -1;
  return count < 0 ? -1 : 0;
}

static PyObject *core_resolve_names(PyObject *Py_UNUSED(module), PyObject *const *given, Py_ssize_t count) {
  if (!are_classes_known() || !are_valid(count == 5 && is_a(given[1], &SCOPE), "resolve_names")) return NULL;
  Resolving r = {given[1], given[2], given[3], given[4]};
  return visit_names(given[0], resolve_name, &r) < 0 ? NULL : NONE;
}

/* Whether a statement declares and names nothing: a `.loc` without attributes. */
static int is_plain_location(PyObject *statement) {
  return is_a(statement, &LOCATION) && PyTuple_Size(get(statement, LOCATION.offsets[3])) == 0;
}

static PyObject *core_resolve_instructions(PyObject *Py_UNUSED(module), PyObject *const *given, Py_ssize_t count) {
  if (!are_classes_known() ||
      !are_valid(count == 7 && PyTuple_Check(given[0]) && is_a(given[3], &SCOPE), "resolve_instructions"))
    return NULL;
  PyObject *statements = given[0], *instructions = given[2];
  Py_ssize_t position = PyLong_AsSsize_t(given[1]), size = PyTuple_Size(statements);
  Resolving r = {given[3], given[4], given[5], given[6]};
  if (position < 0) return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_ValueError, "the index is negative");
  for (; position < size; position++) {
    PyObject *statement = PyTuple_GetItem(statements, position);
    if (is_a(statement, &INSTRUCTION)) {
      if (PyList_Append(instructions, statement) < 0 || resolve_instruction(&r, statement) < 0) return NULL;
    } else if (!is_plain_location(statement)) {
      break;
    }
  }
  return PyLong_FromSsize_t(position);
}

/* -- labels ------------------------------------------------------------------------------------------------- */

static PyObject *core_labels(PyObject *Py_UNUSED(module), PyObject *const *given, Py_ssize_t count) {
  if (!are_classes_known() || !are_valid(count == 2 && PyList_Check(given[0]) && PyDict_Check(given[1]), "labels"))
    return NULL;
  PyObject *found = PyList_New(0);
  Py_ssize_t position = 0;
  for (Py_ssize_t n = 0; found != NULL && n < PyList_Size(given[0]); n++) {
    PyObject *statement = PyList_GetItem(given[0], n);
    position += is_a(statement, &INSTRUCTION);
    PyObject *name = is_a(statement, &LABEL) ? get(statement, LABEL.offsets[0]) : NULL;
    PyObject *symbol = name != NULL && is_a(name, &NAME) ? look_up(given[1], START_OF(name)) : NULL;
    if (symbol == NULL && PyErr_Occurred()) Py_CLEAR(found);
    if (symbol == NULL || !is_a(symbol, &LABEL_SYMBOL)) continue;
    if (!appended(found, Py_BuildValue("On", symbol, position))) Py_CLEAR(found);
  }
  return found;
}

#endif
