/* The virtual registers that machine instructions read and write: `analyses/registers/machine_blocks.py` has the
 * definition. */

#ifndef PTX_MACHINE_BLOCK_H
#define PTX_MACHINE_BLOCK_H

#include "collections.h"

enum { NO_REGISTER = -1 };

/* The machine code of a function: `lists` are the uses, defs, partial defs and guards of all instructions. */
typedef struct {
  PyObject *lists[4], *values, *allocated, *is_eliminated;
  Py_ssize_t first, end;
} MachineCode;

/* Whether the lists are as long as they must be; else with an exception. */
static int is_machine_code(const MachineCode *code) {
  if (!are_lists_with(code->lists, 4, code->first, code->end)) return 0;
  Py_ssize_t known = PyByteArray_Size(code->is_eliminated), size = PyList_Size(code->values);
  if (known >= code->end && size >= 0 && PyList_Size(code->allocated) == size) return 1;
  if (!PyErr_Occurred()) PyErr_SetString(PyExc_IndexError, "the lists have no such instructions");
  return 0;
}

static inline int is_gone(const MachineCode *code, Py_ssize_t number) {
  return PyByteArray_AsString(code->is_eliminated)[number];
}

/* The virtual registers of a register, and whether its definitions allocate them; NULL with an exception. */
static inline PyObject *words_of(const MachineCode *code, Py_ssize_t register_, int *is_allocated) {
  PyObject *words = PyList_GetItem(code->values, register_);
  if (words == NULL) return NULL;
  if (!PyTuple_Check(words)) {
    PyErr_SetString(PyExc_TypeError, "virtual registers are a tuple");
    return NULL;
  }
  *is_allocated = words == PyList_GetItem(code->allocated, register_);
  return words;
}

/* How many virtual registers these instructions name at most; -1 with an exception. */
static Py_ssize_t most_words(const MachineCode *code) {
  Py_ssize_t found = 0;
  for (int list = 0; list < 2; list++)
    for (Py_ssize_t number = code->first; number < code->end; number++) {
      PyObject *registers = PyList_GetItem(code->lists[list], number);
      Py_ssize_t size = PyTuple_Size(registers);
      for (Py_ssize_t n = 0; n < size; n++) {
        int is_allocated;
        Py_ssize_t register_ = PyLong_AsSsize_t(PyTuple_GetItem(registers, n));
        PyObject *words = words_of(code, register_, &is_allocated);
        if (words == NULL) return -1;
        found += PyTuple_Size(words) + 1; /* or itself, as a flag */
      }
      if (size < 0) return -1;
    }
  return found;
}

static int is_among(PyObject *registers, Py_ssize_t register_) {
  Py_ssize_t size = PyTuple_Size(registers);
  for (Py_ssize_t n = 0; n < size; n++)
    if (PyLong_AsSsize_t(PyTuple_GetItem(registers, n)) == register_) return 1;
  return 0;
}

enum { IS_LIVE = 1, IS_DEFINED = 2 };

typedef struct {
  Numbering words;
  unsigned char *states; /* by place */
  Py_ssize_t live, pressure, results;
  int has_pair;
} BlockWalk;

static void make_live(BlockWalk *walk, Py_ssize_t word) {
  unsigned char *state = walk->states + place_of(&walk->words, word);
  if (!(*state & IS_LIVE)) walk->live++;
  *state |= IS_LIVE;
}

/* Goes back over one instruction, which needs `more` registers besides its operands; false with an exception. */
static int walk_back(BlockWalk *walk, const MachineCode *code, Py_ssize_t number, Py_ssize_t more) {
  PyObject *uses = PyList_GetItem(code->lists[0], number), *defs = PyList_GetItem(code->lists[1], number);
  PyObject *kept = PyList_GetItem(code->lists[2], number);
  Py_ssize_t count = PyTuple_Size(defs), size = 0, partial = PyTuple_Size(kept), holder = -1;
  int is_allocated = 0;
  for (Py_ssize_t n = 0; n < count; n++) {
    Py_ssize_t register_ = PyLong_AsSsize_t(PyTuple_GetItem(defs, n));
    PyObject *words = words_of(code, register_, &is_allocated);
    if (words == NULL) return 0;
    Py_ssize_t own = PyTuple_Size(words);
    if (!is_allocated || !own) continue;
    size += own;
    if (own > 1 || (holder >= 0 && holder != register_)) walk->has_pair = 1;
    holder = register_;
    if (partial && is_among(kept, register_)) continue;
    for (Py_ssize_t word = 0; word < own; word++) {
      unsigned char *state = walk->states + place_of(&walk->words, PyLong_AsSsize_t(PyTuple_GetItem(words, word)));
      if (*state & IS_LIVE) walk->live--;
      *state = IS_DEFINED;
    }
  }
  count = PyTuple_Size(uses);
  for (Py_ssize_t n = 0; n < count; n++) {
    PyObject *words = words_of(code, PyLong_AsSsize_t(PyTuple_GetItem(uses, n)), &is_allocated);
    if (words == NULL) return 0;
    Py_ssize_t own = PyTuple_Size(words);
    for (Py_ssize_t word = 0; word < own; word++) make_live(walk, PyLong_AsSsize_t(PyTuple_GetItem(words, word)));
  }
  if (walk->live + size + more > walk->pressure) walk->pressure = walk->live + size + more;
  walk->results += size;
  return 1;
}

/* The words with a state. */
static PyObject *words_with(const BlockWalk *walk, unsigned char wanted) {
  Py_ssize_t count = 0, *found = zeroed(walk->words.count, sizeof *found);
  if (found == NULL) return NULL;
  for (Py_ssize_t place = 0; place < walk->words.count; place++)
    if (walk->states[place] & wanted && walk->words.numbers[place] != NO_REGISTER)
      found[count++] = walk->words.numbers[place];
  PyObject *tuple = tuple_of_numbers(found, count);
  PyMem_Free(found);
  return tuple;
}

static PyObject *machine_block(PyObject *Py_UNUSED(module), PyObject *arguments) {
  MachineCode code;
  PyObject *kinds, *more, *live_after, *found = NULL;
  if (!PyArg_ParseTuple(arguments, "OOOOO!O!O!OO!nnO!", &code.lists[0], &code.lists[1], &code.lists[2], &code.lists[3],
                        &PyList_Type, &kinds, &PyList_Type, &code.values, &PyList_Type, &code.allocated,
                        &code.is_eliminated, &PyDict_Type, &more, &code.first, &code.end, &PyList_Type, &live_after))
    return NULL;
  if (!is_machine_code(&code) || !are_lists_with(&kinds, 1, code.first, code.end)) return NULL;
  Py_ssize_t most = most_words(&code), after = PyList_Size(live_after), other = PyDict_Size(more);
  if (most < 0) return NULL;
  BlockWalk walk = {0};
  if (!new_numbering(&walk.words, most + after)) goto done;
  if ((walk.states = zeroed(most + after, 1)) == NULL) goto done;
  for (Py_ssize_t n = 0; n < after; n++) make_live(&walk, PyLong_AsSsize_t(PyList_GetItem(live_after, n)));
  for (Py_ssize_t number = code.end - 1; number >= code.first; number--) {
    if (is_gone(&code, number)) continue;
    PyObject *count = other ? PyDict_GetItemWithError(more, PyList_GetItem(kinds, number)) : NULL;
    if (!walk_back(&walk, &code, number, count == NULL ? 0 : PyLong_AsSsize_t(count))) goto done;
  }
  if (PyErr_Occurred()) goto done;
  found = Py_BuildValue("NNnnO", words_with(&walk, IS_LIVE), words_with(&walk, IS_DEFINED), walk.pressure, walk.results,
                        walk.has_pair ? Py_True : Py_False);
done:
  free_numbering(&walk.words);
  PyMem_Free(walk.states);
  return found;
}

#endif
