/* The class `BlockValues`: the SSA values of one block (`ptx_lsp/analyses/dataflow/ssa.py`). */

#ifndef PTX_BLOCK_VALUES_H
#define PTX_BLOCK_VALUES_H

#include "values.h"

typedef struct {
  PyObject_HEAD
  PyObject *inputs, *by_instruction, *last;
  Py_ssize_t first, count;
  char is_reached;
} BlockValues;

static PyTypeObject *block_values_type;

/* The values of a block; takes the references, of which NULL is one with an exception. */
static PyObject *new_block_values(
    Py_ssize_t first, Py_ssize_t count, PyObject *inputs, PyObject *by_instruction, PyObject *last, int is_reached) {
  BlockValues *found = NULL;
  if (inputs != NULL && by_instruction != NULL && last != NULL)
    found = (BlockValues *)PyType_GenericAlloc(block_values_type, 0);
  if (found == NULL) {
    Py_XDECREF(inputs);
    Py_XDECREF(by_instruction);
    Py_XDECREF(last);
    return NULL;
  }
  found->inputs = inputs;
  found->by_instruction = by_instruction;
  found->last = last;
  found->first = first;
  found->count = count;
  found->is_reached = (char)is_reached;
  return (PyObject *)found;
}

/* Enters an instruction as the definition of its values, which begin at `*value`; false with an exception. */
static int enter_definitions(PyObject *found, InstructionValues *one, Py_ssize_t number, Py_ssize_t *value) {
  Py_ssize_t own = PyTuple_Size(one->defs) + (one->carry_out >= 0);
  if (!own) return 1;
  PyObject *instruction = PyLong_FromSsize_t(number);
  int failed = instruction == NULL;
  while (!failed && own-- > 0) failed = PyList_SetItem(found, (*value)++, new_reference(instruction)) < 0;
  Py_XDECREF(instruction);
  return !failed;
}

static PyObject *defining_instructions(PyObject *Py_UNUSED(module), PyObject *arguments) {
  PyObject *blocks, *found = NULL;
  Py_ssize_t limit, number = 0;
  if (!PyArg_ParseTuple(arguments, "O!n", &PyList_Type, &blocks, &limit)) return NULL;
  PyObject *none = PyLong_FromSsize_t(ABSENT), *row = none == NULL ? NULL : PyList_New(1);
  if (row != NULL && PyList_SetItem(row, 0, none) == 0) found = PySequence_Repeat(row, limit);
  Py_XDECREF(row);
  Py_ssize_t count = PyList_Size(blocks);
  for (Py_ssize_t n = 0; found != NULL && n < count; n++) {
    PyObject *item = PyList_GetItem(blocks, n);
    if (Py_TYPE(item) != block_values_type) {
      PyErr_SetString(PyExc_TypeError, "the values of a block are needed");
      Py_CLEAR(found);
      break;
    }
    const BlockValues *values = (const BlockValues *)item;
    Py_ssize_t size = PyList_Size(values->by_instruction), value = values->first;
    if (!values->count) { /* as of blocks that are not reached: their values are no definitions */
      number += size;
      continue;
    }
    for (Py_ssize_t place = 0; found != NULL && place < size; place++, number++) {
      InstructionValues *one = values_at(values->by_instruction, place);
      if (one == NULL || !enter_definitions(found, one, number, &value)) Py_CLEAR(found);
    }
  }
  return found;
}

static PyObject *block_values_new(PyTypeObject *Py_UNUSED(type), PyObject *arguments, PyObject *keywords) {
  static char *names[] = {"first", "inputs", "by_instruction", "is_reached", NULL};
  PyObject *inputs, *by_instruction;
  Py_ssize_t first;
  int is_reached;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "nO!O!p", names, &first, &PyTuple_Type, &inputs, &PyList_Type,
                                   &by_instruction, &is_reached))
    return NULL;
  return new_block_values(first, 0, new_reference(inputs), new_reference(by_instruction), NO_ITEMS, is_reached);
}

static void block_values_dealloc(PyObject *self) {
  BlockValues *values = (BlockValues *)self;
  PyTypeObject *type = Py_TYPE(self);
  Py_XDECREF(values->inputs);
  Py_XDECREF(values->by_instruction);
  Py_XDECREF(values->last);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static PyMemberDef block_values_members[] = {
    {"inputs", T_OBJECT_EX, offsetof(BlockValues, inputs), READONLY, NULL},
    {"by_instruction", T_OBJECT_EX, offsetof(BlockValues, by_instruction), READONLY, NULL},
    {"last", T_OBJECT_EX, offsetof(BlockValues, last), READONLY, NULL},
    {"first", T_PYSSIZET, offsetof(BlockValues, first), READONLY, NULL},
    {"count", T_PYSSIZET, offsetof(BlockValues, count), READONLY, NULL},
    {"is_reached", T_BOOL, offsetof(BlockValues, is_reached), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};

static PyType_Slot block_values_slots[] = {
    {Py_tp_doc, "The values of the instructions of one block."},
    {Py_tp_new, block_values_new},
    {Py_tp_dealloc, block_values_dealloc},
    {Py_tp_members, block_values_members},
    {0, NULL}};

static PyType_Spec block_values_spec = {
    "ptx_lsp.analyses._flow.BlockValues", sizeof(BlockValues), 0, Py_TPFLAGS_DEFAULT, block_values_slots};

#endif
