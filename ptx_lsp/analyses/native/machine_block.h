/* The virtual registers that machine instructions read and write: `ptx_lsp/analyses/registers/machine_blocks.py` has the
 * definition. */

#ifndef PTX_MACHINE_BLOCK_H
#define PTX_MACHINE_BLOCK_H

#include "collections.h"

enum { NO_REGISTER = -1 };

typedef struct {
  PyObject_HEAD
  PyObject *upward_exposed, *defined, *parameters;
  Py_ssize_t pressure, results;
  char has_pair;
} MachineBlock;

static PyTypeObject *machine_block_type;

/* The machine code of a function: `lists` are the uses, defs, partial defs and guards of all instructions, `loads`
 * the instructions that load parameters, by the virtual registers that they define. */
typedef struct {
  PyObject *lists[4], *values, *allocated, *is_eliminated, *loads;
  Py_ssize_t first, end, loaded_end;
  char *is_loaded; /* which virtual registers below `loaded_end` are in `loads` */
} MachineCode;

/* Reads `loads`; false with an exception. `is_loaded` is to be freed in any case. */
static int read_loaded(MachineCode *code) {
  PyObject *key, *number;
  Py_ssize_t at = 0, word;
  code->loaded_end = 0;
  code->is_loaded = NULL;
  while (PyDict_Next(code->loads, &at, &key, &number)) {
    if ((word = index_in(key, PY_SSIZE_T_MAX)) < 0) return 0;
    if (word >= code->loaded_end) code->loaded_end = word + 1;
  }
  if ((code->is_loaded = zeroed(code->loaded_end, 1)) == NULL) return 0;
  for (at = 0; PyDict_Next(code->loads, &at, &key, &number);) code->is_loaded[PyLong_AsSsize_t(key)] = 1;
  return 1;
}

/* Whether a virtual register has a parameter. */
static inline int is_loaded(const MachineCode *code, Py_ssize_t word) {
  return word >= 0 && word < code->loaded_end && code->is_loaded[word];
}

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

static int is_among(PyObject *registers, Py_ssize_t register_) {
  Py_ssize_t size = PyTuple_Size(registers);
  for (Py_ssize_t n = 0; n < size; n++)
    if (PyLong_AsSsize_t(PyTuple_GetItem(registers, n)) == register_) return 1;
  return 0;
}

enum { IS_LIVE = 1, IS_DEFINED = 2, IS_NAMED = 4 };

typedef struct {
  Py_ssize_t size, count, capacity;
  unsigned char *states;    /* by virtual register, below `size` */
  Py_ssize_t *named, *some; /* the `count` virtual registers with a state, in order, and room for some of them */
  const char *elsewhere; /* which virtual registers below `elsewhere_end` do not count */
  Py_ssize_t elsewhere_end;
  Py_ssize_t live, pressure, results;
  Py_ssize_t text_registers, counted_results, most_more; /* the last are the most that an instruction needs besides */
  int has_pair;
} BlockWalk;

/* Whether a virtual register counts for the pressure: parameters do not. */
static inline int is_counted(const BlockWalk *walk, const MachineCode *code, Py_ssize_t word) {
  return (word >= walk->elsewhere_end || !walk->elsewhere[word]) && !is_loaded(code, word);
}

/* Makes room for virtual registers up to this one; false with an exception. */
static int make_room(BlockWalk *walk, Py_ssize_t word) {
  Py_ssize_t size = word < 128 ? 256 : 2 * word;
  unsigned char *states = PyMem_Realloc(walk->states, size);
  if (states == NULL) return PyErr_NoMemory() != NULL;
  memset(states + walk->size, 0, size - walk->size);
  walk->states = states;
  walk->size = size;
  return 1;
}

/* Notes that a virtual register has a state; false with an exception. */
static int add_named(BlockWalk *walk, Py_ssize_t word) {
  if (walk->count == walk->capacity) {
    Py_ssize_t capacity = walk->capacity ? 2 * walk->capacity : 256;
    Py_ssize_t *named = PyMem_Realloc(walk->named, capacity * sizeof *named);
    if (named != NULL) walk->named = named;
    Py_ssize_t *some = named == NULL ? NULL : PyMem_Realloc(walk->some, capacity * sizeof *some);
    if (some == NULL) return PyErr_NoMemory() != NULL;
    walk->some = some;
    walk->capacity = capacity;
  }
  walk->named[walk->count++] = word;
  return 1;
}

/* The state of a virtual register; NULL with an exception. */
static inline unsigned char *word_state(BlockWalk *walk, Py_ssize_t word) {
  if (word < 0) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_IndexError, "a virtual register is negative");
    return NULL;
  }
  if (word >= walk->size && !make_room(walk, word)) return NULL;
  unsigned char *state = walk->states + word;
  if (!*state && !add_named(walk, word)) return NULL;
  *state |= IS_NAMED;
  return state;
}

static void forget_states(BlockWalk *walk) {
  while (walk->count) walk->states[walk->named[--walk->count]] = 0;
  walk->live = walk->pressure = walk->results = walk->has_pair = 0;
  walk->text_registers = walk->counted_results = walk->most_more = 0;
}

/* False with an exception. */
static int make_live(BlockWalk *walk, const MachineCode *code, Py_ssize_t word) {
  if (word == NO_REGISTER) return 1;
  unsigned char *state = word_state(walk, word);
  if (state == NULL) return 0;
  if (!(*state & IS_LIVE) && is_counted(walk, code, word)) walk->live++;
  *state |= IS_LIVE;
  return 1;
}

/* Goes back over one instruction, which needs `more` registers besides its operands; false with an exception. */
static int walk_back(BlockWalk *walk, const MachineCode *code, Py_ssize_t number, Py_ssize_t more) {
  PyObject *uses = PyList_GetItem(code->lists[0], number), *defs = PyList_GetItem(code->lists[1], number);
  PyObject *kept = PyList_GetItem(code->lists[2], number);
  Py_ssize_t count = PyTuple_Size(defs), here = 0, partial = PyTuple_Size(kept), holder = -1, after = walk->live;
  int is_allocated = 0;
  for (Py_ssize_t n = 0; n < count; n++) {
    Py_ssize_t register_ = PyLong_AsSsize_t(PyTuple_GetItem(defs, n));
    PyObject *words = words_of(code, register_, &is_allocated);
    if (words == NULL) return 0;
    Py_ssize_t own = PyTuple_Size(words), held = 0;
    for (Py_ssize_t n = 0; n < own; n++) held += PyLong_AsSsize_t(PyTuple_GetItem(words, n)) != NO_REGISTER;
    if (!is_allocated || !held) continue;
    walk->results += held;
    if (held > 1 || (holder >= 0 && holder != register_)) walk->has_pair = 1;
    holder = register_;
    int is_whole = !partial || !is_among(kept, register_);
    for (Py_ssize_t n = 0; n < own; n++) {
      Py_ssize_t word = PyLong_AsSsize_t(PyTuple_GetItem(words, n));
      if (word == NO_REGISTER) continue;
      unsigned char *state = word_state(walk, word);
      if (state == NULL) return 0;
      int counts = is_counted(walk, code, word);
      here += counts;
      after += counts && !(*state & IS_LIVE);
      if (!is_whole) continue;
      if (counts && *state & IS_LIVE) walk->live--;
      *state = IS_DEFINED | IS_NAMED;
    }
  }
  count = PyTuple_Size(uses);
  for (Py_ssize_t n = 0; n < count; n++) {
    PyObject *words = words_of(code, PyLong_AsSsize_t(PyTuple_GetItem(uses, n)), &is_allocated);
    if (words == NULL) return 0;
    Py_ssize_t own = PyTuple_Size(words);
    for (Py_ssize_t n = 0; n < own; n++)
      if (!make_live(walk, code, PyLong_AsSsize_t(PyTuple_GetItem(words, n)))) return 0;
  }
  if (walk->live + here + more > walk->pressure) walk->pressure = walk->live + here + more;
  if (walk->live > after) after = walk->live;
  if (after + more > walk->text_registers) walk->text_registers = after + more;
  if (more > walk->most_more) walk->most_more = more;
  walk->counted_results += here;
  return 1;
}

/* The words with a state that are parameters, or those that are not. */
static PyObject *words_with(BlockWalk *walk, const MachineCode *code, unsigned char wanted, int are_loaded) {
  Py_ssize_t count = 0;
  for (Py_ssize_t n = 0; n < walk->count; n++) {
    Py_ssize_t word = walk->named[n];
    if (walk->states[word] & wanted && is_loaded(code, word) == are_loaded) walk->some[count++] = word;
  }
  return tuple_of_numbers(walk->some, count);
}

/* Goes back over the instructions from `first` up to `end`; false with an exception. */
static int go_back(BlockWalk *walk, const MachineCode *code, PyObject *kinds, PyObject *more) {
  if (!PyDict_Size(more)) more = NULL;
  for (Py_ssize_t number = code->end - 1; number >= code->first; number--) {
    if (is_gone(code, number)) continue;
    PyObject *count = more == NULL ? NULL : PyDict_GetItemWithError(more, PyList_GetItem(kinds, number));
    if (!walk_back(walk, code, number, count == NULL ? 0 : PyLong_AsSsize_t(count))) return 0;
  }
  return !PyErr_Occurred();
}

static void end_block_walk(BlockWalk *walk) {
  PyMem_Free(walk->states);
  PyMem_Free(walk->named);
  PyMem_Free(walk->some);
}

/* The block that was walked over; NULL with an exception. */
static PyObject *walked_block(BlockWalk *walk, const MachineCode *code) {
  MachineBlock *found = (MachineBlock *)PyType_GenericAlloc(machine_block_type, 0);
  if (found == NULL) return NULL;
  found->upward_exposed = words_with(walk, code, IS_LIVE, 0);
  found->parameters = words_with(walk, code, IS_LIVE, 1);
  found->defined = words_with(walk, code, IS_DEFINED, 0);
  found->pressure = walk->pressure;
  found->results = walk->results;
  found->has_pair = (char)walk->has_pair;
  if (PyErr_Occurred()) Py_CLEAR(found);
  return (PyObject *)found;
}

static PyObject *machine_blocks(PyObject *Py_UNUSED(module), PyObject *arguments) {
  MachineCode code;
  PyObject *kinds, *more, *bounds, *found = NULL;
  BlockWalk walk = {0};
  if (!PyArg_ParseTuple(arguments, "OOOOO!O!O!OO!O!O!", &code.lists[0], &code.lists[1], &code.lists[2], &code.lists[3],
                        &PyList_Type, &kinds, &PyList_Type, &code.values, &PyList_Type, &code.allocated,
                        &code.is_eliminated, &PyDict_Type, &code.loads, &PyDict_Type, &more, &PyList_Type, &bounds))
    return NULL;
  Py_ssize_t count = PyList_Size(bounds);
  for (Py_ssize_t n = 0; n < count; n++) {
    if (!PyArg_ParseTuple(PyList_GetItem(bounds, n), "nn", &code.first, &code.end)) return NULL;
    if (!is_machine_code(&code) || !are_lists_with(&kinds, 1, code.first, code.end)) return NULL;
  }
  if (read_loaded(&code)) found = PyList_New(count);
  for (Py_ssize_t n = 0; n < count && found != NULL; n++) {
    forget_states(&walk);
    PyArg_ParseTuple(PyList_GetItem(bounds, n), "nn", &code.first, &code.end);
    PyObject *block = go_back(&walk, &code, kinds, more) ? walked_block(&walk, &code) : NULL;
    if (block == NULL) Py_CLEAR(found);
    else PyList_SetItem(found, n, block);
  }
  PyMem_Free(code.is_loaded);
  end_block_walk(&walk);
  return found;
}

/* Makes those numbers live whose bits are set; false with an exception. */
static int make_all_live(
    BlockWalk *walk, const MachineCode *code, PyObject *numbers, const unsigned char *bits, Py_ssize_t size) {
  for (Py_ssize_t n = 0; n < size; n++)
    for (int bit = 0; bits[n] >> bit; bit++) {
      if (!(bits[n] >> bit & 1)) continue;
      PyObject *number = PyList_GetItem(numbers, 8 * n + bit);
      if (number == NULL || !make_live(walk, code, PyLong_AsSsize_t(number))) return 0;
    }
  return 1;
}

static PyObject *block_registers(PyObject *Py_UNUSED(module), PyObject *arguments) {
  MachineCode code;
  PyObject *kinds, *more, *bounds, *numbers, *found = NULL;
  const unsigned char *bits;
  Py_ssize_t size;
  BlockWalk walk = {0};
  if (!PyArg_ParseTuple(arguments, "OOOOO!O!O!OO!O!O!O!y#", &code.lists[0], &code.lists[1], &code.lists[2],
                        &code.lists[3], &PyList_Type, &kinds, &PyList_Type, &code.values, &PyList_Type,
                        &code.allocated, &code.is_eliminated, &PyDict_Type, &code.loads, &PyDict_Type, &more,
                        &PyList_Type, &bounds, &PyList_Type, &numbers, &walk.elsewhere, &walk.elsewhere_end))
    return NULL;
  Py_ssize_t count = PyList_Size(bounds);
  if (read_loaded(&code)) found = PyList_New(count);
  for (Py_ssize_t n = 0; n < count && found != NULL; n++) {
    forget_states(&walk);
    PyObject *block = NULL;
    if (PyArg_ParseTuple(PyList_GetItem(bounds, n), "nny#", &code.first, &code.end, &bits, &size) &&
        is_machine_code(&code) && are_lists_with(&kinds, 1, code.first, code.end) &&
        make_all_live(&walk, &code, numbers, bits, size) && go_back(&walk, &code, kinds, more))
      block = Py_BuildValue("nnn", walk.pressure, walk.text_registers,
                            walk.live + walk.counted_results + walk.most_more);
    if (block == NULL) Py_CLEAR(found);
    else PyList_SetItem(found, n, block);
  }
  PyMem_Free(code.is_loaded);
  end_block_walk(&walk);
  return found;
}

static void machine_block_dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  Py_XDECREF(((MachineBlock *)self)->upward_exposed);
  Py_XDECREF(((MachineBlock *)self)->defined);
  Py_XDECREF(((MachineBlock *)self)->parameters);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static PyMemberDef machine_block_members[] = {
    {"upward_exposed", T_OBJECT_EX, offsetof(MachineBlock, upward_exposed), READONLY, NULL},
    {"defined", T_OBJECT_EX, offsetof(MachineBlock, defined), READONLY, NULL},
    {"parameters", T_OBJECT_EX, offsetof(MachineBlock, parameters), READONLY, NULL},
    {"pressure", T_PYSSIZET, offsetof(MachineBlock, pressure), READONLY, NULL},
    {"results", T_PYSSIZET, offsetof(MachineBlock, results), READONLY, NULL},
    {"has_pair", T_BOOL, offsetof(MachineBlock, has_pair), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};

static PyType_Slot machine_block_slots[] = {
    {Py_tp_doc, "The virtual registers of one block."},
    {Py_tp_dealloc, machine_block_dealloc},
    {Py_tp_members, machine_block_members},
    {0, NULL}};

static PyType_Spec machine_block_spec = {
    "ptx_lsp.analyses._flow.MachineBlock", sizeof(MachineBlock), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    machine_block_slots};

#endif
