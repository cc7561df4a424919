/* The shapes of instructions: keys are made of what the operands are, and looked up in tables of those that are
 * known. `reader` makes what is new (ptx_lsp/model/instructions/shapes.py). */

#ifndef PTX_SHAPES_H
#define PTX_SHAPES_H

#include "names.h"
#include "variables.h"

/* As in ptx_lsp/model/instructions/features.py. */
enum { GUARDED = 1 << 0, NEGATED = 1 << 1, UNUSUAL_GUARD = 1 << 2, WITH_BANK = 1 << 3, SPACED = 1 << 4 };

/* Integers with no more characters have no more than 64 bits. */
enum { LONGEST = 16 };

enum {
  SHAPE_TABLE,
  REGISTER_TABLE,
  INTEGER_TABLE,
  VARIABLE_TABLE,
  ADDRESS_TABLE,
  SUM_TABLE,
  VECTOR_TABLE,
  TABLES
};

static const char *const TABLE_NAMES[TABLES] = {
    "shapes", "registers", "integers", "variables", "addresses", "sums", "vectors"};

typedef struct {
  PyObject *reader, *symbols, *linked, *received, *returned;
  PyObject *label; /* the operand that is a label, once there is one */
  PyObject *tables[TABLES];
} Shaping;

/* What a table has for a key, or else what a method of the reader makes from it; a new reference. */
static PyObject *found_or_made(const Shaping *s, int table, PyObject *key, const char *method, PyObject *value) {
  PyObject *found = look_up(s->tables[table], key);
  if (found != NULL) return new_reference(found);
  return PyErr_Occurred() ? NULL : PyObject_CallMethod(s->reader, method, "(O)", value);
}

/* The scalar register that a name refers to: a borrowed reference; NULL without an exception if it is another. */
static PyObject *scalar_register(const Shaping *s, PyObject *name) {
  if (!is_a(name, &NAME)) return NULL;
  PyObject *symbol = look_up(s->symbols, START_OF(name));
  return symbol != NULL && is_a(symbol, &REGISTER) && is_number(VECTOR_OF(symbol), 1) ? symbol : NULL;
}

static PyObject *register_operand(const Shaping *s, PyObject *symbol) {
  PyObject *type = get(symbol, REGISTER.offsets[2]);
  return found_or_made(s, REGISTER_TABLE, type, "register", type);
}

static PyObject *variable_operand(const Shaping *s, PyObject *symbol) {
  long long features = features_of_variable(symbol, s->received, s->returned);
  if (features < 0) return NULL;
  PyObject *type = element_type(get(symbol, VARIABLE.offsets[3])), *space = get(symbol, VARIABLE.offsets[2]);
  PyObject *key = type == NULL ? NULL : Py_BuildValue("(NOL)", type, space, features);
  PyObject *found = key == NULL ? NULL : found_or_made(s, VARIABLE_TABLE, key, "variable", key);
  Py_XDECREF(key);
  return found;
}

/* `{a, b}` of scalar registers. NULL without an exception, here and below: the reader decides. */
static PyObject *vector_operand(const Shaping *s, PyObject *node) {
  PyObject *items = get(node, VECTOR.offsets[0]), *found = NULL;
  Py_ssize_t count = PyTuple_Size(items);
  PyObject *key = count < 0 ? NULL : PyTuple_New(count);
  for (Py_ssize_t n = 0; key != NULL && n < count; n++) {
    PyObject *symbol = scalar_register(s, PyTuple_GetItem(items, n));
    PyObject *part = symbol == NULL ? NULL : register_operand(s, symbol);
    if (part == NULL) Py_CLEAR(key);
    else PyTuple_SetItem(key, n, part);
  }
  if (key != NULL) found = found_or_made(s, VECTOR_TABLE, key, "vector", key);
  Py_XDECREF(key);
  return found;
}

static int is_integer(PyObject *node) {
  return is_a(node, &NUMBER) && PyUnicode_CompareWithASCIIString(KIND_OF_NUMBER(node), "integer") == 0;
}

/* `[x]` or `[x+4]`, where `x` is a scalar register or a variable. */
static PyObject *address_operand(const Shaping *s, PyObject *node) {
  PyObject *items = get(node, ADDRESS.offsets[0]);
  if (PyTuple_Size(items) != 1 || get(node, ADDRESS.offsets[1]) != Py_None) return NULL;
  PyObject *base = PyTuple_GetItem(items, 0);
  int is_sum = is_a(base, &BINARY);
  if (is_sum) {
    PyObject *sign = get(base, BINARY.offsets[0]);
    PyObject *number = get(base, BINARY.offsets[2]);
    if (!is_integer(number) || PyUnicode_GetLength(TEXT_OF_NUMBER(number)) > LONGEST ||
        (PyUnicode_CompareWithASCIIString(sign, "+") && PyUnicode_CompareWithASCIIString(sign, "-")))
      return NULL;
    base = get(base, BINARY.offsets[1]);
  }
  /* `[WARP_SZ]` is a constant address, even if a register has that name */
  if (!is_a(base, &NAME) || PyUnicode_CompareWithASCIIString(TEXT_OF(base), "WARP_SZ") == 0) return NULL;
  PyObject *symbol = look_up(s->symbols, START_OF(base)), *whole;
  if (symbol == NULL && !PyErr_Occurred()) symbol = look_up(s->linked, TEXT_OF(base));
  if (symbol == NULL) return NULL;
  if (is_a(symbol, &VARIABLE)) whole = variable_operand(s, symbol);
  else if (is_a(symbol, &REGISTER) && is_number(VECTOR_OF(symbol), 1)) whole = register_operand(s, symbol);
  else return NULL;
  if (whole == NULL) return NULL;
  PyObject *found = found_or_made(s, is_sum ? SUM_TABLE : ADDRESS_TABLE, whole, is_sum ? "sum" : "address", whole);
  Py_DECREF(whole);
  return found;
}

/* Whether a name refers to a label; `_` and `WARP_SZ` do not even if a label has such a name. */
static int is_label(const Shaping *s, PyObject *node) {
  if (!is_a(node, &NAME)) return 0;
  PyObject *symbol = look_up(s->symbols, START_OF(node));
  return symbol != NULL && is_a(symbol, &LABEL_SYMBOL) && PyUnicode_CompareWithASCIIString(TEXT_OF(node), "_") &&
         PyUnicode_CompareWithASCIIString(TEXT_OF(node), "WARP_SZ");
}

static PyObject *operand(Shaping *s, PyObject *node, PyObject *spelling) {
  PyObject *found = NULL, *symbol = scalar_register(s, node);
  if (symbol != NULL) return register_operand(s, symbol);
  if (is_integer(node)) {
    found = look_up(s->tables[INTEGER_TABLE], TEXT_OF_NUMBER(node));
    if (found != NULL) return new_reference(found);
  } else if (is_a(node, &ADDRESS)) {
    found = address_operand(s, node);
  } else if (is_a(node, &VECTOR)) {
    found = vector_operand(s, node);
  }
  if (found != NULL || PyErr_Occurred()) return found;
  int is_jump = is_label(s, node);
  if (is_jump && s->label != NULL) return new_reference(s->label);
  found = PyObject_CallMethod(s->reader, "operand", "(OO)", node, spelling);
  if (is_jump && found != NULL) s->label = new_reference(found);
  return found;
}

/* The features of the opcode and the guard; -1 with an exception. */
static long own_features(const Shaping *s, PyObject *guard, PyObject *opcode, PyObject *spelling) {
  Py_ssize_t length = PyLong_AsSsize_t(get(opcode, end_offset)) - PyLong_AsSsize_t(START_OF(opcode));
  long found = length == PyUnicode_GetLength(spelling) ? 0 : SPACED;
  if (get(opcode, OPCODE.offsets[1]) != Py_None) found |= WITH_BANK;
  if (is_a(guard, &GUARD)) {
    found |= get(guard, GUARD.offsets[0]) == Py_True ? GUARDED | NEGATED : GUARDED;
    PyObject *symbol = scalar_register(s, get(guard, GUARD.offsets[1]));
    if (symbol == NULL || PyUnicode_CompareWithASCIIString(get(symbol, REGISTER.offsets[2]), ".pred"))
      found |= UNUSUAL_GUARD;
  }
  return PyErr_Occurred() ? -1 : found;
}

static PyObject *shape_of(Shaping *s, PyObject *node) {
  PyObject *opcode = get(node, INSTRUCTION.offsets[1]), *operands = get(node, INSTRUCTION.offsets[2]);
  PyObject *spelling = get(opcode, OPCODE.offsets[0]), *found = NULL;
  long own = own_features(s, get(node, INSTRUCTION.offsets[0]), opcode, spelling);
  Py_ssize_t count = PyTuple_Size(operands);
  PyObject *key = own < 0 || count < 0 ? NULL : PyTuple_New(count + 2);
  if (key == NULL) return NULL;
  PyTuple_SetItem(key, 0, new_reference(spelling));
  PyTuple_SetItem(key, 1, PyLong_FromLong(own));
  for (Py_ssize_t n = 0; n < count; n++) {
    PyObject *part = operand(s, PyTuple_GetItem(operands, n), spelling);
    if (part == NULL) {
      Py_DECREF(key);
      return NULL;
    }
    PyTuple_SetItem(key, n + 2, part);
  }
  found = found_or_made(s, SHAPE_TABLE, key, "new", key);
  Py_DECREF(key);
  return found;
}

/* The set of the names of registers and variables. */
static PyObject *names_of(PyObject *symbols) {
  PyObject *found = PySet_New(NULL);
  for (Py_ssize_t n = 0; found != NULL && n < PyList_Size(symbols); n++) {
    PyObject *symbol = PyList_GetItem(symbols, n);
    int is_known = is_a(symbol, &REGISTER) || is_a(symbol, &VARIABLE);
    PyObject *name = is_known ? get(symbol, (is_a(symbol, &REGISTER) ? REGISTER : VARIABLE).offsets[0]) : Py_None;
    if (PySet_Add(found, name) < 0) Py_CLEAR(found);
  }
  return found;
}

static PyObject *core_shapes(PyObject *Py_UNUSED(module), PyObject *const *given, Py_ssize_t count) {
  if (!are_classes_known() || !are_valid(count == 7 && PyList_Check(given[0]) && PyList_Check(given[5]) && PyList_Check(given[6]), "shapes")) return NULL;
  PyObject *instructions = given[0], *found = NULL;
  Shaping s = {given[2], given[3], given[4], names_of(given[5]), names_of(given[6]), NULL, {NULL}};
  int known = 0;
  while (known < TABLES && (s.tables[known] = PyObject_GetAttrString(given[1], TABLE_NAMES[known])) != NULL) known++;
  if (known == TABLES && s.received != NULL && s.returned != NULL) found = PyList_New(0);
  for (Py_ssize_t n = 0; found != NULL && n < PyList_Size(instructions); n++) {
    PyObject *node = PyList_GetItem(instructions, n);
    if (!appended(found, is_a(node, &INSTRUCTION) ? shape_of(&s, node) : NULL)) Py_CLEAR(found);
  }
  while (known--) Py_DECREF(s.tables[known]);
  Py_XDECREF(s.label);
  Py_XDECREF(s.received);
  Py_XDECREF(s.returned);
  if (found == NULL && !PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "not an instruction");
  return found;
}

/* -- places ------------------------------------------------------------------------------------------------- */

/* Adds a place to the list of an item in a dictionary; false with an exception. */
static int add_place(PyObject *found, PyObject *item, Py_ssize_t place) {
  PyObject *places = look_up(found, item);
  if (places == NULL && !PyErr_Occurred()) {
    places = PyList_New(0);
    int failed = places == NULL || PyDict_SetItem(found, item, places) < 0;
    Py_XDECREF(places); /* `found` has it */
    if (failed) return 0;
  }
  return places != NULL && appended(places, PyLong_FromSsize_t(place));
}

static PyObject *core_places(PyObject *Py_UNUSED(module), PyObject *items) {
  if (!are_valid(PyTuple_Check(items), "places")) return NULL;
  PyObject *found = PyDict_New();
  Py_ssize_t count = PyTuple_Size(items);
  for (Py_ssize_t place = 0; found != NULL && place < count; place++)
    if (!add_place(found, PyTuple_GetItem(items, place), place)) Py_CLEAR(found);
  return found;
}

#endif
