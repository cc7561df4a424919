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

/* Notes a name that a range may have as well, unless an earlier one is in all such ranges: of the names with one
 * base, those that are noted have smaller and smaller positions. -1 with an exception. */
static int note_numbered(PyObject *scope, PyObject *name) {
  PyObject *base = base_of(name), *numbered = get(scope, SCOPE.offsets[5]);
  if (base == NULL) return PyErr_Occurred() ? -1 : 0;
  if (numbered == Py_None && (numbered = PyDict_New()) != NULL) {
    set_field(scope, SCOPE.offsets[5], numbered);
    Py_DECREF(Py_None);
  }
  PyObject *noted = numbered == NULL ? NULL : look_up(numbered, base);
  uint32_t position, least;
  int failed = 1;
  if (noted != NULL) {
    Py_ssize_t size = PyList_Size(noted);
    failed = size <= 0 || position_in_range(name, base, &position) < 0 ||
             position_in_range(PyList_GetItem(noted, size - 1), base, &least) < 0 ||
             (position < least && PyList_Append(noted, name) < 0);
  } else if (!PyErr_Occurred()) {
    noted = PyList_New(0);
    failed = noted == NULL || PyList_Append(noted, name) < 0 || PyDict_SetItem(numbered, base, noted) < 0;
    Py_XDECREF(noted);
  }
  Py_DECREF(base);
  return failed ? -1 : 0;
}

/* Adds a name unless it is already declared: then that symbol, a borrowed reference; NULL else. A label may have
 * the name of a member of a range. */
static PyObject *declare(PyObject *scope, PyObject *name, PyObject *symbol) {
  PyObject *first = find_here(scope, name);
  int is_label = is_a(symbol, &LABEL_SYMBOL);
  if (PyErr_Occurred() || (first != NULL && !(is_label && is_of_range(first)))) return first;
  if (is_label || note_numbered(scope, name) == 0) PyDict_SetItem(get(scope, SCOPE.offsets[3]), name, symbol);
  return NULL;
}

static PyObject *core_declare(PyObject *Py_UNUSED(module), PyObject *const *given, Py_ssize_t count) {
  if (!are_classes_known() || !are_valid(count == 3 && is_a(given[0], &SCOPE) && PyUnicode_Check(given[1]), "declare"))
    return NULL;
  PyObject *first = declare(given[0], given[1], given[2]);
  if (PyErr_Occurred()) return NULL;
  return first == NULL ? NONE : new_reference(first);
}

/* The first of the names with one base that is in a range of so many: a borrowed reference; NULL without an
 * exception if none is. */
static PyObject *first_member(PyObject *noted, PyObject *base, unsigned long long members) {
  Py_ssize_t low = 0, size = PyList_Size(noted), high = size;
  while (low < high) {
    Py_ssize_t middle = low + (high - low) / 2;
    uint32_t position;
    if (position_in_range(PyList_GetItem(noted, middle), base, &position) < 0) return NULL;
    if (position < members) high = middle;
    else low = middle + 1;
  }
  return low < size ? PyList_GetItem(noted, low) : NULL;
}

/* Adds the names of a range; if one of them is already declared, its symbol instead, a borrowed reference. */
static PyObject *declare_range(PyObject *scope, PyObject *base, PyObject *range) {
  PyObject *ranges = get(scope, SCOPE.offsets[4]), *numbered = get(scope, SCOPE.offsets[5]);
  PyObject *first = look_up(ranges, base);
  if (first != NULL || PyErr_Occurred()) return first == NULL ? NULL : get(first, RANGE.offsets[0]);
  unsigned long long members = PyLong_AsUnsignedLongLong(get(range, RANGE.offsets[1]));
  PyObject *noted = numbered == Py_None ? NULL : look_up(numbered, base);
  if (noted != NULL) first = first_member(noted, base, members);
  if (first != NULL) return look_up(get(scope, SCOPE.offsets[3]), first);
  if (!PyErr_Occurred()) PyDict_SetItem(ranges, base, range);
  return NULL;
}

/* -- symbols ------------------------------------------------------------------------------------------------ */

/* The place of a name of the function whose `.entry` or `.func` is `owner`. Only a tuple's own constructor knows
 * what else a tuple has: since Python 3.14, its hash. */
static PyObject *place_of(PyObject *owner, PyObject *name) {
  newfunc new = (newfunc)PyType_GetSlot(&PyTuple_Type, Py_tp_new);
  PyObject *items = PyTuple_Pack(3, owner, START_OF(name), get(name, end_offset));
  PyObject *arguments = items == NULL ? NULL : PyTuple_Pack(1, items);
  PyObject *place = arguments == NULL ? NULL : new((PyTypeObject *)place_class, arguments, NULL);
  Py_XDECREF(items);
  Py_XDECREF(arguments);
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
  if (PyErr_Occurred()) Py_CLEAR(found);
  return found;
}

#endif
