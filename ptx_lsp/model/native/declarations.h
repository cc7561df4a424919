/* Declarations: their symbols, and the names of a scope. */

#ifndef PTX_DECLARATIONS_H
#define PTX_DECLARATIONS_H

#include "names.h"
#include "variables.h"

/* -- names of a scope --------------------------------------------------------------------------------------- */

static int is_of_range(PyObject *symbol) {
  if (is_a(symbol, &REGISTER)) return get(get(symbol, REGISTER.offsets[4]), DECLARATOR.offsets[1]) != Py_None;
  return is_a(symbol, &VARIABLE) && get(get(symbol, VARIABLE.offsets[4]), DECLARATOR.offsets[1]) != Py_None;
}

/* Adds a name unless it is already declared: then that symbol, a borrowed reference; NULL else. A label may have
 * the name of a member of a range. */
static PyObject *declare(PyObject *scope, PyObject *name, PyObject *symbol) {
  PyObject *first = find_here(scope, name);
  if (PyErr_Occurred() || (first != NULL && !(is_a(symbol, &LABEL_SYMBOL) && is_of_range(first)))) return first;
  PyDict_SetItem(get(scope, SCOPE.offsets[3]), name, symbol);
  return NULL;
}

static PyObject *core_declare(PyObject *Py_UNUSED(module), PyObject *const *given, Py_ssize_t count) {
  if (!are_classes_known() || !are_valid(count == 3 && is_a(given[0], &SCOPE) && PyUnicode_Check(given[1]), "declare"))
    return NULL;
  PyObject *first = declare(given[0], given[1], given[2]);
  if (PyErr_Occurred()) return NULL;
  return first == NULL ? NONE : new_reference(first);
}

/* Whether a name is a member of a range that begins with `base`; -1 with an exception. */
static int is_member(PyObject *name, PyObject *base, unsigned long long members) {
  Py_ssize_t size, base_size;
  const char *text = PyUnicode_AsUTF8AndSize(name, &size), *start = PyUnicode_AsUTF8AndSize(base, &base_size);
  if (text == NULL || start == NULL) return -1;
  Py_ssize_t digits = size;
  while (digits && text[digits - 1] >= '0' && text[digits - 1] <= '9') digits--;
  if (digits != base_size || digits == size || memcmp(text, start, (size_t)base_size)) return 0;
  uint32_t position;
  return range_position(text + digits, size - digits, &position) < 0 ? -1 : position < members;
}

/* Adds the names of a range; if one of them is already declared, its symbol instead, a borrowed reference. */
static PyObject *declare_range(PyObject *scope, PyObject *base, PyObject *range) {
  PyObject *names = get(scope, SCOPE.offsets[3]), *ranges = get(scope, SCOPE.offsets[4]);
  PyObject *first = look_up(ranges, base), *name, *symbol;
  if (first != NULL || PyErr_Occurred()) return first == NULL ? NULL : get(first, RANGE.offsets[0]);
  unsigned long long members = PyLong_AsUnsignedLongLong(get(range, RANGE.offsets[1]));
  Py_ssize_t place = 0;
  while (PyDict_Next(names, &place, &name, &symbol)) {
    if (is_a(symbol, &LABEL_SYMBOL)) continue;
    int is_known = is_member(name, base, members);
    if (is_known) return is_known < 0 ? NULL : symbol;
  }
  PyDict_SetItem(ranges, base, range);
  return NULL;
}

/* -- symbols ------------------------------------------------------------------------------------------------ */

/* The place of a name of the function whose `.entry` or `.func` is `owner`. */
static PyObject *place_of(PyObject *owner, PyObject *name) {
  PyObject *place = PyType_GenericAlloc((PyTypeObject *)place_class, 3);
  if (place == NULL) return NULL;
  PyTuple_SetItem(place, 0, new_reference(owner));
  PyTuple_SetItem(place, 1, new_reference(START_OF(name)));
  PyTuple_SetItem(place, 2, new_reference(get(name, end_offset)));
  return place;
}

/* A new object of a class; takes the references to the values of its fields, also where it fails. */
static PyObject *new_object(const NodeClass *class, PyObject *const *values) {
  PyObject *found = PyType_GenericAlloc(class->type, 0);
  int failed = found == NULL;
  for (int field = 0; class->fields[field] != NULL; field++) {
    failed |= values[field] == NULL;
    if (found != NULL) set_field(found, class->offsets[field], values[field]);
    else Py_XDECREF(values[field]);
  }
  if (failed) Py_CLEAR(found);
  return found;
}

#define NEW_OBJECT(class, ...) new_object(&(class), (PyObject *const[]){__VA_ARGS__})

static PyObject *new_symbol(PyObject *declaration, PyObject *declarator, PyObject *owner, PyObject *is_parameter) {
  PyObject *name = get(declarator, DECLARATOR.offsets[0]), *space = get(declaration, DECLARATION.offsets[1]);
  PyObject *place = place_of(owner, name);
  if (is_a(space, &NAME) && PyUnicode_CompareWithASCIIString(TEXT_OF(space), ".reg") == 0)
    return NEW_OBJECT(
        REGISTER, new_reference(TEXT_OF(name)), new_reference(is_parameter), element_type(declaration),
        vector_length(declaration), new_reference(declarator), place);
  return NEW_OBJECT(
      VARIABLE, new_reference(TEXT_OF(name)), new_reference(is_parameter),
      is_a(space, &NAME) ? new_reference(TEXT_OF(space)) : PyUnicode_FromStringAndSize("", 0),
      new_reference(declaration), new_reference(declarator), place);
}

typedef struct {
  PyObject *declaration, *owner, *is_parameter, *clash;
  Resolving resolving;
} Declaring;

/* Declares the name of a declarator, and appends its symbol to `found`. */
static int declare_one(Declaring *d, PyObject *declarator, PyObject *found) {
  PyObject *initializer = get(declarator, DECLARATOR.offsets[3]), *name = get(declarator, DECLARATOR.offsets[0]);
  PyObject *scope = d->resolving.scope, *first;
  if (initializer != Py_None && visit_names(initializer, resolve_name, &d->resolving) < 0) return -1;
  if (PyUnicode_CompareWithASCIIString(TEXT_OF(name), "_") == 0) return 0;
  PyObject *symbol = new_symbol(d->declaration, declarator, d->owner, d->is_parameter);
  if (!appended(found, symbol)) return -1; /* `found` keeps it */
  if (get(declarator, DECLARATOR.offsets[1]) == Py_None) {
    first = declare(scope, TEXT_OF(name), symbol);
  } else {
    PyObject *count = PyObject_CallFunctionObjArgs(range_count, declarator, NULL);
    PyObject *range = NEW_OBJECT(RANGE, new_reference(symbol), count);
    first = range == NULL ? NULL : declare_range(scope, TEXT_OF(name), range);
    Py_XDECREF(range);
  }
  if (PyErr_Occurred() || PyDict_SetItem(d->resolving.symbols, START_OF(name), symbol) < 0) return -1;
  PyObject *told = first == NULL ? NULL : PyObject_CallFunctionObjArgs(d->clash, name, symbol, first, NULL);
  Py_XDECREF(told);
  return first != NULL && told == NULL ? -1 : 0;
}

static PyObject *core_declare_all(PyObject *Py_UNUSED(module), PyObject *const *given, Py_ssize_t count) {
  if (!are_classes_known() ||
      !are_valid(count == 7 && PyTuple_Check(given[0]) && is_a(given[1], &SCOPE), "declare_all"))
    return NULL;
  Declaring d = {NULL, given[2], given[3], given[6], {given[1], PyDict_New(), given[4], given[5]}};
  PyObject *declarations = given[0], *found = PyList_New(0);
  int failed = found == NULL || d.resolving.visible == NULL;
  for (Py_ssize_t n = 0; !failed && n < PyTuple_Size(declarations); n++) {
    d.declaration = PyTuple_GetItem(declarations, n);
    failed = !are_valid(is_a(d.declaration, &DECLARATION), "declare_all");
    PyObject *declarators = failed ? NULL : get(d.declaration, DECLARATION.offsets[7]);
    for (Py_ssize_t m = 0; !failed && m < PyTuple_Size(declarators); m++) {
      failed = declare_one(&d, PyTuple_GetItem(declarators, m), found) < 0;
      PyDict_Clear(d.resolving.visible);
    }
  }
  Py_XDECREF(d.resolving.visible);
  if (failed) Py_CLEAR(found);
  return found;
}

#endif
