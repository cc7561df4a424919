/* The registers that instructions read and write, by index (ptx_lsp/analyses/instructions/uses_and_defs.py). */

#ifndef PTX_ACCESSES_H
#define PTX_ACCESSES_H

#include "names.h"

/* As in ptx_lsp/isa/matching/operand_access.py. */
enum { ACCESS_NONE = 0, ACCESS_READ = 1, ACCESS_WRITE = 2 };

typedef struct {
  PyObject **items; /* borrowed: the dictionary of the indices keeps them */
  Py_ssize_t count, capacity;
} Indices;

typedef struct {
  PyObject *symbols; /* by start */
  PyObject *indices; /* of registers */
  PyObject *used;    /* the registers by index */
  PyObject *firsts;  /* the index of the first register of each declarator */
  PyObject *add;     /* adds a register of another declarator */
  PyObject *singles; /* the tuple of each single index */
  Indices reads, writes, keeps;
} Accessing;

/* How an operand is accessed; `parts` is NULL if all of its parts are accessed alike. */
typedef struct {
  long own, pair;
  PyObject *parts;
} Access;

static Access access_of(PyObject *object) {
  Access found = {
      PyLong_AsLong(get(object, OPERAND_ACCESS.offsets[0])), PyLong_AsLong(get(object, OPERAND_ACCESS.offsets[2])),
      get(object, OPERAND_ACCESS.offsets[1])};
  if (PyTuple_Size(found.parts) <= 0) found.parts = NULL;
  return found;
}

static int push(Indices *list, PyObject *index) {
  if (list->count == list->capacity) {
    Py_ssize_t capacity = list->capacity ? 2 * list->capacity : 64;
    PyObject **items = PyMem_Realloc(list->items, (size_t)capacity * sizeof *items);
    if (items == NULL) return PyErr_NoMemory(), -1;
    list->items = items;
    list->capacity = capacity;
  }
  list->items[list->count++] = index;
  return 0;
}

/* The tuple of the indices; those of one are shared. */
static PyObject *tuple_of(const Accessing *a, const Indices *list) {
  if (!list->count) return NO_ITEMS;
  PyObject *first = list->items[0], *found = list->count == 1 ? look_up(a->singles, first) : NULL;
  if (found != NULL || PyErr_Occurred()) return found == NULL ? NULL : new_reference(found);
  found = PyTuple_New(list->count);
  for (Py_ssize_t n = 0; found != NULL && n < list->count; n++) PyTuple_SetItem(found, n, new_reference(list->items[n]));
  if (found != NULL && list->count == 1 && PyDict_SetItem(a->singles, first, found) < 0) Py_CLEAR(found);
  return found;
}

/* -- indices ------------------------------------------------------------------------------------------------ */

/* The index of a register of a declarator among `firsts`; NULL without an exception if its is not there. */
static PyObject *number_of(PyObject *firsts, PyObject *symbol) {
  PyObject *declarator = get(symbol, REGISTER.offsets[4]), *first = look_up(firsts, declarator);
  if (first == NULL || !is_a(declarator, &DECLARATOR)) return NULL;
  if (get(declarator, DECLARATOR.offsets[1]) == Py_None) return new_reference(first);
  uint32_t position;
  PyObject *base = get(declarator, DECLARATOR.offsets[0]);
  if (position_in_range(get(symbol, REGISTER.offsets[0]), TEXT_OF(base), &position) < 0) return NULL;
  long long number = PyLong_AsLongLong(first);
  return PyErr_Occurred() ? NULL : PyLong_FromLongLong(number + position);
}

static PyObject *core_register_number(PyObject *Py_UNUSED(module), PyObject *const *given, Py_ssize_t count) {
  if (!are_classes_known() || !are_valid(count == 2 && is_a(given[1], &REGISTER), "register_number")) return NULL;
  PyObject *found = number_of(given[0], given[1]);
  return found == NULL && !PyErr_Occurred() ? NONE : found;
}

/* The index of a register that is named for the first time: a borrowed reference. */
static PyObject *add_register(const Accessing *a, PyObject *symbol) {
  PyObject *index = number_of(a->firsts, symbol);
  if (index == NULL && PyErr_Occurred()) return NULL;
  if (index == NULL) index = PyObject_CallFunctionObjArgs(a->add, symbol, NULL);
  if (index == NULL) return NULL;
  int failed = PyDict_SetItem(a->indices, symbol, index) < 0 || PyDict_SetItem(a->used, index, symbol) < 0;
  Py_DECREF(index); /* `indices` has it */
  return failed ? NULL : index;
}

/* The index of the register that a name refers to: a borrowed reference; NULL without an exception if it is none. */
static PyObject *index_of(const Accessing *a, PyObject *name) {
  PyObject *symbol = look_up(a->symbols, START_OF(name));
  if (symbol == NULL || !is_a(symbol, &REGISTER)) return NULL;
  PyObject *index = look_up(a->indices, symbol);
  return index != NULL || PyErr_Occurred() ? index : add_register(a, symbol);
}

/* -- operands ----------------------------------------------------------------------------------------------- */

static int access_name(Accessing *a, PyObject *name, long own) {
  PyObject *index = index_of(a, name);
  if (index == NULL) return PyErr_Occurred() ? -1 : 0;
  if (own == ACCESS_NONE) return 0;
  if (own != ACCESS_WRITE && push(&a->reads, index) < 0) return -1;
  if (own != ACCESS_READ && push(&a->writes, index) < 0) return -1;
  return own != ACCESS_READ && own != ACCESS_WRITE ? push(&a->keeps, index) : 0;
}

static int read_name(void *state, PyObject *name) { return access_name(state, name, ACCESS_READ); }

static int access_operand(Accessing *a, PyObject *operand, Access access);

static int access_items(Accessing *a, PyObject *items, Access access) {
  Py_ssize_t count = PyTuple_Size(items);
  Access whole = {access.own, ACCESS_NONE, NULL};
  PyObject *parts = access.parts != NULL && PyTuple_Size(access.parts) == count ? access.parts : NULL;
  for (Py_ssize_t n = 0; n < count; n++) {
    PyObject *part = parts == NULL ? NULL : PyTuple_GetItem(parts, n);
    if (access_operand(a, PyTuple_GetItem(items, n), part == NULL ? whole : access_of(part)) < 0) return -1;
  }
  return count < 0 ? -1 : 0;
}

/* `v.x = ...`: the other components keep their values. */
static int write_component(Accessing *a, PyObject *name, long own) {
  PyObject *index = index_of(a, name);
  if (index == NULL) return PyErr_Occurred() ? -1 : 0;
  if (push(&a->writes, index) < 0 || push(&a->keeps, index) < 0) return -1;
  return own != ACCESS_WRITE ? push(&a->reads, index) : 0;
}

static int access_operand(Accessing *a, PyObject *operand, Access access) {
  if (is_a(operand, &NAME)) return access_name(a, operand, access.own);
  if (is_a(operand, &NUMBER)) return 0;
  if (is_a(operand, &ADDRESS)) return visit_names(operand, read_name, a);
  int is_pair = is_a(operand, &PAIR);
  if (is_pair || is_a(operand, &VECTOR) || is_a(operand, &GROUP)) {
    if (Py_EnterRecursiveCall(" in an operand")) return -1;
    int failed;
    if (is_pair) {
      PyObject *right = get(operand, PAIR.offsets[1]);
      failed = access_operand(a, get(operand, PAIR.offsets[0]), access) < 0 ||
               (is_a(right, &NAME) && access_name(a, right, access.pair) < 0);
    } else {
      Py_ssize_t items = (is_a(operand, &GROUP) ? GROUP : VECTOR).offsets[0];
      failed = access_items(a, get(operand, items), access) < 0;
    }
    Py_LeaveRecursiveCall();
    return failed ? -1 : 0;
  }
  if (access.own != ACCESS_READ && is_a(operand, &MEMBER)) {
    PyObject *object = get(operand, MEMBER.offsets[0]);
    return access.own != ACCESS_NONE && is_a(object, &NAME) ? write_component(a, object, access.own) : 0;
  }
  return access.own != ACCESS_NONE ? visit_names(operand, read_name, a) : 0;
}

static int keep_last(void *state, PyObject *name) {
  *(PyObject **)state = name;
  return 0;
}

/* The index of the register of a guard, or -1. */
static PyObject *guard_index(const Accessing *a, PyObject *guard) {
  PyObject *name = NULL, *index = NULL;
  if (is_a(guard, &GUARD) && visit_names(get(guard, GUARD.offsets[1]), keep_last, &name) < 0) return NULL;
  if (name != NULL) index = index_of(a, name);
  if (index != NULL) return new_reference(index);
  return PyErr_Occurred() ? NULL : PyLong_FromLong(-1);
}

/* -- instructions ------------------------------------------------------------------------------------------- */

enum { USES, DEFS, PARTIAL_DEFS, GUARDS, LISTS };

/* Appends what an instruction accesses to the lists. */
static int access_instruction(Accessing *a, PyObject *node, PyObject *accesses, PyObject *const *lists) {
  PyObject *guard = get(node, INSTRUCTION.offsets[0]), *operands = get(node, INSTRUCTION.offsets[2]);
  Py_ssize_t count = PyTuple_Size(operands);
  if (PyTuple_Size(accesses) != count) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "the accesses are those of another instruction");
    return -1;
  }
  a->reads.count = a->writes.count = a->keeps.count = 0;
  for (Py_ssize_t n = 0; n < count; n++)
    if (access_operand(a, PyTuple_GetItem(operands, n), access_of(PyTuple_GetItem(accesses, n))) < 0) return -1;
  int is_guarded = is_a(guard, &GUARD);
  return appended(lists[USES], tuple_of(a, &a->reads)) && appended(lists[DEFS], tuple_of(a, &a->writes)) &&
                 appended(lists[PARTIAL_DEFS], tuple_of(a, is_guarded ? &a->writes : &a->keeps)) &&
                 appended(lists[GUARDS], guard_index(a, guard))
             ? 0
             : -1;
}

static PyObject *core_register_accesses(PyObject *Py_UNUSED(module), PyObject *const *given, Py_ssize_t count) {
  if (!are_classes_known() ||
      !are_valid(count == 7 && PyList_Check(given[0]) && PyList_Check(given[1]), "register_accesses"))
    return NULL;
  PyObject *instructions = given[0], *accesses = given[1], *found = NULL, *lists[LISTS] = {NULL};
  Accessing a = {given[2], given[3], given[4], given[5], given[6], PyDict_New(), {NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}};
  int failed = a.singles == NULL;
  for (int n = 0; n < LISTS; n++) failed |= (lists[n] = PyList_New(0)) == NULL;
  for (Py_ssize_t n = 0; !failed && n < PyList_Size(instructions); n++) {
    PyObject *node = PyList_GetItem(instructions, n), *access = PyList_GetItem(accesses, n);
    failed = access == NULL || !are_valid(is_a(node, &INSTRUCTION) && PyTuple_Check(access), "register_accesses") ||
             access_instruction(&a, node, access, lists) < 0;
  }
  if (!failed) found = Py_BuildValue("OOOO", lists[USES], lists[DEFS], lists[PARTIAL_DEFS], lists[GUARDS]);
  for (int n = 0; n < LISTS; n++) Py_XDECREF(lists[n]);
  Py_XDECREF(a.singles);
  PyMem_Free(a.reads.items);
  PyMem_Free(a.writes.items);
  PyMem_Free(a.keeps.items);
  return found;
}

#endif
