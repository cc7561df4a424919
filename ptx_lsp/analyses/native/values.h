/* The SSA values of instructions (`ptx_lsp/analyses/dataflow/ssa.py`), and their levels of uniformity. */

#ifndef PTX_VALUES_H
#define PTX_VALUES_H

#include "kinds.h"

enum { ABSENT = -1, OWN = -2 };

typedef struct {
  PyObject_HEAD
  PyObject *uses, *partial_defs, *defs;
  Py_ssize_t guard, carry_in, carry_out;
} InstructionValues;

static PyTypeObject *instruction_values_type;
static PyObject *without_values; /* shared by the many instructions without registers */

/* The values of an instruction; takes the references to the tuples, of which NULL is one with an exception. */
static PyObject *new_values(
    PyObject *uses, PyObject *partial_defs, PyObject *defs, Py_ssize_t guard, Py_ssize_t carry_in,
    Py_ssize_t carry_out) {
  InstructionValues *found = NULL;
  if (uses != NULL && partial_defs != NULL && defs != NULL)
    found = (InstructionValues *)PyType_GenericAlloc(instruction_values_type, 0);
  if (found == NULL) {
    Py_XDECREF(uses);
    Py_XDECREF(partial_defs);
    Py_XDECREF(defs);
    return NULL;
  }
  found->uses = uses;
  found->partial_defs = partial_defs;
  found->defs = defs;
  found->guard = guard;
  found->carry_in = carry_in;
  found->carry_out = carry_out;
  return (PyObject *)found;
}

/* The current values of a tuple of registers. */
static PyObject *current_values(PyObject *registers, PyObject *current, Py_ssize_t count) {
  Py_ssize_t size = PyTuple_Size(registers);
  if (size <= 0) return size < 0 ? NULL : new_reference(registers);
  PyObject *found = PyTuple_New(size);
  for (Py_ssize_t n = 0; found != NULL && n < size; n++) {
    Py_ssize_t register_ = index_in(PyTuple_GetItem(registers, n), count);
    if (register_ < 0) Py_CLEAR(found);
    else PyTuple_SetItem(found, n, new_reference(PyList_GetItem(current, register_)));
  }
  return found;
}

/* New values, from `*value` on, for a tuple of registers; they become the current ones. */
static PyObject *defined_values(PyObject *registers, PyObject *current, Py_ssize_t count, Py_ssize_t *value) {
  Py_ssize_t size = PyTuple_Size(registers);
  if (size <= 0) return size < 0 ? NULL : new_reference(registers);
  PyObject *found = PyTuple_New(size);
  for (Py_ssize_t n = 0; found != NULL && n < size; n++) {
    Py_ssize_t register_ = index_in(PyTuple_GetItem(registers, n), count);
    PyObject *number = register_ < 0 ? NULL : PyLong_FromSsize_t(*value);
    if (number == NULL) {
      Py_CLEAR(found);
      break;
    }
    PyTuple_SetItem(found, n, number);
    PyList_SetItem(current, register_, new_reference(number));
    ++*value;
  }
  return found;
}

static PyObject *number_instruction(
    PyObject *const *lists, Py_ssize_t number, PyObject *current, Py_ssize_t count, Py_ssize_t *value,
    Py_ssize_t *carry) {
  PyObject *uses = PyList_GetItem(lists[0], number), *defs = PyList_GetItem(lists[1], number);
  PyObject *partial_defs = PyList_GetItem(lists[2], number), *kind = PyList_GetItem(lists[4], number);
  const KindSlots *slots = kind_slots(kind);
  if (slots == NULL) return NULL;
  Py_ssize_t guard = PyLong_AsSsize_t(PyList_GetItem(lists[3], number));
  int reads_carry = flag_at(kind, slots->reads_carry), writes_carry = flag_at(kind, slots->writes_carry);
  if (guard < 0 && PyErr_Occurred()) return NULL;
  if (guard < 0 && !reads_carry && !writes_carry && !PyTuple_Size(uses) && !PyTuple_Size(defs))
    return new_reference(without_values);
  PyObject *read = current_values(uses, current, count);
  PyObject *kept = read == NULL ? NULL : current_values(partial_defs, current, count);
  if (guard >= 0 && kept != NULL) {
    guard = PyLong_AsSsize_t(PyList_GetItem(current, guard));
    if (guard == -1 && PyErr_Occurred()) Py_CLEAR(kept);
  }
  Py_ssize_t carry_in = reads_carry ? *carry : ABSENT;
  PyObject *written = kept == NULL ? NULL : defined_values(defs, current, count, value);
  Py_ssize_t carry_out = ABSENT;
  if (writes_carry) *carry = carry_out = (*value)++;
  return new_values(read, kept, written, guard, carry_in, carry_out);
}

/* The values of one instruction in a list; NULL with an exception if it is something else. */
static InstructionValues *values_at(PyObject *list, Py_ssize_t number) {
  PyObject *found = PyList_GetItem(list, number);
  if (found != NULL && Py_TYPE(found) == instruction_values_type) return (InstructionValues *)found;
  if (found != NULL) PyErr_SetString(PyExc_TypeError, "the values of an instruction are needed");
  return NULL;
}

/* -- levels --------------------------------------------------------------------------------------------- */

/* What the results of an instruction depend on most: the worst level and the value that has it. `stops` is set
 * at a value that may have escaped from a loop. */
typedef struct {
  PyObject *escaped; /* NULL if there are none */
  int stops;
  const unsigned char *levels;
  Py_ssize_t count;
  unsigned char level;
  Py_ssize_t cause;
} Worst;

static inline void consider(Worst *worst, Py_ssize_t value) {
  if (value >= 0 && value < worst->count && worst->levels[value] > worst->level) {
    worst->level = worst->levels[value];
    worst->cause = value;
  }
}

static void consider_all(Worst *worst, PyObject *values) {
  Py_ssize_t size = PyTuple_Size(values);
  for (Py_ssize_t n = 0; n < size; n++) {
    PyObject *value = PyTuple_GetItem(values, n);
    if (worst->escaped != NULL && PySet_Contains(worst->escaped, value)) worst->stops = 1;
    consider(worst, PyLong_AsSsize_t(value));
  }
}

static void consider_guard(Worst *worst, Py_ssize_t guard) {
  if (worst->escaped != NULL && guard >= 0) {
    PyObject *value = PyLong_FromSsize_t(guard);
    if (value == NULL || PySet_Contains(worst->escaped, value)) worst->stops = 1;
    Py_XDECREF(value);
  }
  consider(worst, guard);
}

static int raise_results(PyObject *results, const Worst *worst, unsigned char *levels, PyObject *causes) {
  Py_ssize_t size = PyTuple_Size(results);
  for (Py_ssize_t n = 0; n < size; n++) {
    Py_ssize_t value = index_in(PyTuple_GetItem(results, n), worst->count);
    PyObject *cause = value < 0 ? NULL : PyLong_FromSsize_t(worst->cause);
    if (cause == NULL || PyList_SetItem(causes, value, cause) < 0) return 0;
    levels[value] = worst->level;
  }
  return 1;
}

static PyObject *evaluate_levels(PyObject *Py_UNUSED(module), PyObject *const *given, Py_ssize_t given_count) {
  if (given_count != 8 || !PyDict_Check(given[2]) || !PySet_Check(given[3]) || !PyByteArray_Check(given[4]) ||
      !PyList_Check(given[5])) {
    PyErr_SetString(PyExc_TypeError, "invalid arguments for evaluate_levels()");
    return NULL;
  }
  PyObject *of_all = given[0], *shapes = given[1], *plain_levels = given[2], *escaped = given[3];
  PyObject *levels = given[4], *causes = given[5];
  Py_ssize_t number = PyLong_AsSsize_t(given[6]), end = PyLong_AsSsize_t(given[7]);
  if (PyErr_Occurred()) return NULL;
  if (!are_lists_with(&of_all, 1, number, end)) return NULL;
  unsigned char *bytes = (unsigned char *)PyByteArray_AsString(levels);
  Py_ssize_t count = PyByteArray_Size(levels);
  PyObject *some = PySet_Size(escaped) ? escaped : NULL;
  for (; number < end; number++) {
    InstructionValues *one = values_at(of_all, number);
    if (one == NULL) return NULL;
    if (one->carry_out < 0 && !PyTuple_Size(one->defs)) continue;
    PyObject *shape = PySequence_GetItem(shapes, number);
    if (shape == NULL) return NULL;
    PyObject *found = PyDict_GetItemWithError(plain_levels, shape);
    Py_DECREF(shape);
    Py_ssize_t own = found == NULL ? -1 : PyLong_AsSsize_t(found);
    if (own < 0) break;
    Worst worst = {some, 0, bytes, count, 0, OWN};
    consider_all(&worst, one->uses);
    consider_all(&worst, one->partial_defs);
    consider_guard(&worst, one->guard);
    if (worst.stops) break;
    if (own > worst.level) {
      worst.level = (unsigned char)own;
      worst.cause = OWN;
    }
    if (worst.level && !raise_results(one->defs, &worst, bytes, causes)) return NULL;
  }
  return PyErr_Occurred() ? NULL : PyLong_FromSsize_t(number);
}

/* -- the class ------------------------------------------------------------------------------------------- */

static PyObject *instruction_values_new(PyTypeObject *Py_UNUSED(type), PyObject *arguments, PyObject *keywords) {
  static char *names[] = {"uses", "partial_defs", "defs", "guard", "carry_in", "carry_out", NULL};
  PyObject *uses, *partial_defs, *defs;
  Py_ssize_t guard, carry_in, carry_out;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O!O!O!nnn", names, &PyTuple_Type, &uses, &PyTuple_Type,
                                   &partial_defs, &PyTuple_Type, &defs, &guard, &carry_in, &carry_out))
    return NULL;
  return new_values(
      new_reference(uses), new_reference(partial_defs), new_reference(defs), guard, carry_in, carry_out);
}

static void instruction_values_dealloc(PyObject *self) {
  InstructionValues *values = (InstructionValues *)self;
  PyTypeObject *type = Py_TYPE(self);
  Py_XDECREF(values->uses);
  Py_XDECREF(values->partial_defs);
  Py_XDECREF(values->defs);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static PyMemberDef instruction_values_members[] = {
    {"uses", T_OBJECT_EX, offsetof(InstructionValues, uses), READONLY, NULL},
    {"partial_defs", T_OBJECT_EX, offsetof(InstructionValues, partial_defs), READONLY, NULL},
    {"defs", T_OBJECT_EX, offsetof(InstructionValues, defs), READONLY, NULL},
    {"guard", T_PYSSIZET, offsetof(InstructionValues, guard), READONLY, NULL},
    {"carry_in", T_PYSSIZET, offsetof(InstructionValues, carry_in), READONLY, NULL},
    {"carry_out", T_PYSSIZET, offsetof(InstructionValues, carry_out), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};

static PyType_Slot instruction_values_slots[] = {
    {Py_tp_doc, "The values of one instruction."},
    {Py_tp_new, instruction_values_new},
    {Py_tp_dealloc, instruction_values_dealloc},
    {Py_tp_members, instruction_values_members},
    {0, NULL}};

static PyType_Spec instruction_values_spec = {
    "ptx_lsp.analyses._flow.InstructionValues", sizeof(InstructionValues), 0, Py_TPFLAGS_DEFAULT, instruction_values_slots};

#endif
