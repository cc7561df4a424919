/* The instructions that define and read registers: `ptx_lsp/analyses/dataflow/definitions.py` defines them. */

#ifndef PTX_DEFINITIONS_H
#define PTX_DEFINITIONS_H

#include "numbers.h"

enum { NEVER = -1, SEVERAL = -2 };

/* Adds an instruction to the list of a register in a dictionary; `known` is the one before it, if not negative. */
static int add_definition(PyObject *several, PyObject *register_, Py_ssize_t known, Py_ssize_t number) {
  PyObject *list = PyDict_GetItemWithError(several, register_);
  if (list == NULL) {
    if (PyErr_Occurred()) return 0;
    list = known >= 0 ? Py_BuildValue("[n]", known) : PyList_New(0);
    int failed = list == NULL || PyDict_SetItem(several, register_, list) < 0;
    Py_XDECREF(list); /* the dictionary has it */
    if (failed) return 0;
  }
  return appended(list, PyLong_FromSsize_t(number));
}

static PyObject *definitions(PyObject *Py_UNUSED(module), PyObject *arguments) {
  PyObject *lists[2], *found = NULL;
  Py_ssize_t count;
  if (!PyArg_ParseTuple(arguments, "O!O!n", &PyList_Type, &lists[0], &PyList_Type, &lists[1], &count)) return NULL;
  Py_ssize_t end = PyList_Size(lists[0]);
  if (!are_lists_with(lists, 2, 0, end)) return NULL;
  Py_ssize_t *only = count < 0 ? NULL : zeroed(count, sizeof *only);
  PyObject *several = PyDict_New();
  for (Py_ssize_t n = 0; n < count && only != NULL; n++) only[n] = NEVER;
  int failed = only == NULL || several == NULL;
  for (Py_ssize_t number = 0; number < end && !failed; number++) {
    PyObject *defs = PyList_GetItem(lists[0], number);
    Py_ssize_t size = PyTuple_Size(defs), is_partial = size ? PyTuple_Size(PyList_GetItem(lists[1], number)) != 0 : 0;
    failed = size < 0;
    for (Py_ssize_t n = 0; n < size && !failed; n++) {
      PyObject *name = PyTuple_GetItem(defs, n);
      Py_ssize_t register_ = index_in(name, count);
      if (register_ < 0) failed = 1;
      else if (only[register_] == NEVER && !is_partial) only[register_] = number;
      else {
        failed = !add_definition(several, name, only[register_], number);
        only[register_] = SEVERAL;
      }
    }
  }
  if (!failed && !PyErr_Occurred()) found = Py_BuildValue("NO", list_of_numbers(only, count), several);
  else if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "the number of registers is negative");
  Py_XDECREF(several);
  PyMem_Free(only);
  return found;
}

/* The instructions that read each register: `instructions[starts[register]]` and what follows, in order. */
typedef struct {
  PyObject_HEAD
  Py_ssize_t count, end, *starts, *instructions; /* all instructions are below `end` */
} Readers;

static PyTypeObject *readers_type;

/* Counts the uses of each register, or places them; false with an exception. */
static int visit_uses(Readers *readers, PyObject *uses, Py_ssize_t *ends) {
  Py_ssize_t end = PyList_Size(uses);
  for (Py_ssize_t number = 0; number < end; number++) {
    PyObject *used = PyList_GetItem(uses, number);
    Py_ssize_t size = PyTuple_Size(used);
    if (size < 0) return 0;
    for (Py_ssize_t n = 0; n < size; n++) {
      Py_ssize_t register_ = index_in(PyTuple_GetItem(used, n), readers->count);
      if (register_ < 0) return 0;
      if (ends == NULL) readers->starts[register_ + 1]++;
      else readers->instructions[ends[register_]++] = number;
    }
  }
  return 1;
}

static PyObject *readers_new(PyTypeObject *type, PyObject *arguments, PyObject *Py_UNUSED(named)) {
  PyObject *uses;
  Py_ssize_t count;
  if (!PyArg_ParseTuple(arguments, "O!n", &PyList_Type, &uses, &count)) return NULL;
  if (count < 0) return PyErr_Format(PyExc_ValueError, "the number of registers is negative");
  Readers *found = (Readers *)PyType_GenericAlloc(type, 0);
  if (found == NULL) return NULL;
  found->count = count;
  found->end = PyList_Size(uses);
  found->starts = zeroed(count + 1, sizeof *found->starts);
  Py_ssize_t *ends = zeroed(count, sizeof *ends);
  int failed = found->starts == NULL || ends == NULL || !visit_uses(found, uses, NULL);
  for (Py_ssize_t n = 0; n < count && !failed; n++) {
    ends[n] = found->starts[n];
    found->starts[n + 1] += found->starts[n];
  }
  if (!failed) found->instructions = zeroed(found->starts[count], sizeof *found->instructions);
  if (failed || found->instructions == NULL || !visit_uses(found, uses, ends)) Py_CLEAR(found);
  PyMem_Free(ends);
  return (PyObject *)found;
}

static PyObject *readers_of(PyObject *self, PyObject *name) {
  const Readers *readers = (Readers *)self;
  Py_ssize_t register_ = index_in(name, readers->count);
  if (register_ < 0) return NULL;
  Py_ssize_t first = readers->starts[register_];
  return list_of_numbers(readers->instructions + first, readers->starts[register_ + 1] - first);
}

static void readers_dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyMem_Free(((Readers *)self)->starts);
  PyMem_Free(((Readers *)self)->instructions);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static PyMethodDef readers_methods[] = {{"of", readers_of, METH_O, NULL}, {NULL, NULL, 0, NULL}};

static PyType_Slot readers_slots[] = {
    {Py_tp_doc, "The instructions that read each register."},
    {Py_tp_new, readers_new},
    {Py_tp_dealloc, readers_dealloc},
    {Py_tp_methods, readers_methods},
    {0, NULL}};

static PyType_Spec readers_spec = {"ptx_lsp.analyses._flow.Readers", sizeof(Readers), 0, Py_TPFLAGS_DEFAULT, readers_slots};

/* The registers that hold one of the virtual registers that have a flag. */
static PyObject *registers_holding(PyObject *Py_UNUSED(module), PyObject *arguments) {
  PyObject *of_registers;
  const char *flags;
  Py_ssize_t size;
  if (!PyArg_ParseTuple(arguments, "O!y#", &PyList_Type, &of_registers, &flags, &size)) return NULL;
  PyObject *found = PyList_New(0);
  Py_ssize_t count = PyList_Size(of_registers);
  for (Py_ssize_t register_ = 0; register_ < count && found != NULL; register_++) {
    PyObject *held = PyList_GetItem(of_registers, register_);
    Py_ssize_t words = PyTuple_Size(held);
    for (Py_ssize_t n = 0; n < words; n++) {
      Py_ssize_t word = PyLong_AsSsize_t(PyTuple_GetItem(held, n));
      if (word < 0 || word >= size || !flags[word]) continue;
      if (!appended(found, PyLong_FromSsize_t(register_))) Py_CLEAR(found);
      break;
    }
    if (PyErr_Occurred()) Py_CLEAR(found);
  }
  return found;
}

#endif
