/* The operands of the machine instructions of a straight-line region: `ptx_lsp/analyses/registers/scheduling/region_code.py` defines
 * them. Virtual registers and flags are numbered in the order in which they are met. */

#ifndef PTX_OPERANDS_H
#define PTX_OPERANDS_H

#include "machine_block.h"

typedef struct {
  PyObject_HEAD
  Py_ssize_t count, names, live_count;
  Py_ssize_t *numbers;  /* of the instructions, in the function */
  Py_ssize_t *live_out; /* the virtual registers that are live after the region */
  Py_ssize_t *words;    /* the virtual register that each name stands for; negative for a flag */
  Rows uses, defs, kept, flags_read, flags_written; /* without duplicates; `kept` are partial definitions */
} Operands;

static PyTypeObject *operands_type;

/* `count` instructions without operands; NULL with an exception. */
static Operands *new_operands(Py_ssize_t count, Py_ssize_t live_count) {
  Operands *found = (Operands *)PyType_GenericAlloc(operands_type, 0);
  if (found == NULL) return NULL;
  found->live_count = live_count;
  found->numbers = zeroed(count, sizeof *found->numbers);
  found->live_out = zeroed(live_count, sizeof *found->live_out);
  int is_new = new_rows(&found->uses, count) && new_rows(&found->defs, count) && new_rows(&found->kept, count) &&
               new_rows(&found->flags_read, count) && new_rows(&found->flags_written, count);
  if (!is_new || found->numbers == NULL || found->live_out == NULL) Py_CLEAR(found);
  return found;
}

static void begin_instruction(Operands *found, Py_ssize_t number) {
  found->numbers[found->count] = number;
  begin_row(&found->uses);
  begin_row(&found->defs);
  begin_row(&found->kept);
  begin_row(&found->flags_read);
  begin_row(&found->flags_written);
}

static void end_instruction(Operands *found) {
  found->count++;
  end_row(&found->uses);
  end_row(&found->defs);
  end_row(&found->kept);
  end_row(&found->flags_read);
  end_row(&found->flags_written);
}

/* What reading an instruction needs: `seen` has the last row in which a name was. */
typedef struct {
  Numbering names;
  Py_ssize_t *seen, row;
  unsigned char *is_loaded; /* the names of parameters that were met */
} Reading;

static inline int add_name(Reading *reading, Rows *rows, Py_ssize_t number) {
  Py_ssize_t place = place_of(&reading->names, number);
  if (reading->seen[place] == reading->row) return 1;
  reading->seen[place] = reading->row;
  return add_item(rows, place);
}

static inline Py_ssize_t flag(Py_ssize_t register_) { return -2 - register_; }

/* Adds the virtual registers of some registers to one list, and their flags to another: either those that they
 * hold, or those that a definition of them allocates. */
static int read_registers(
    const MachineCode *code, PyObject *registers, int are_defs, Reading *reading, Rows *words, Rows *flags) {
  Py_ssize_t count = PyTuple_Size(registers);
  reading->row++;
  for (Py_ssize_t n = 0; n < count; n++) {
    int is_allocated = 0;
    Py_ssize_t register_ = PyLong_AsSsize_t(PyTuple_GetItem(registers, n));
    PyObject *held = words_of(code, register_, &is_allocated);
    if (held == NULL) return 0;
    Py_ssize_t size = PyTuple_Size(held);
    if (flags != NULL && PyTuple_Size(PyList_GetItem(code->allocated, register_)) == 0 &&
        !add_name(reading, flags, flag(register_)))
      return 0;
    for (Py_ssize_t word = 0; word < size && (is_allocated || !are_defs); word++) {
      Py_ssize_t one = PyLong_AsSsize_t(PyTuple_GetItem(held, word));
      if (one != NO_REGISTER && !add_name(reading, words, one)) return 0;
    }
  }
  return 1;
}

/* The instruction that loads a parameter into a virtual register; -1 if there is none, or with an exception. */
static Py_ssize_t load_of(const MachineCode *code, Py_ssize_t word) {
  if (!is_loaded(code, word)) return -1;
  PyObject *key = PyLong_FromSsize_t(word);
  PyObject *number = key == NULL ? NULL : PyDict_GetItemWithError(code->loads, key);
  Py_XDECREF(key);
  return number == NULL ? -1 : PyLong_AsSsize_t(number);
}

/* Adds the instruction that loads some parameters, and that has no operands. */
static int read_load(const MachineCode *code, Py_ssize_t number, Reading *reading, Operands *found) {
  begin_instruction(found, number);
  if (!read_registers(code, PyList_GetItem(code->lists[1], number), 1, reading, &found->defs, NULL)) return 0;
  for (Py_ssize_t at = found->defs.starts[found->count]; at < found->defs.starts[found->count + 1]; at++)
    reading->is_loaded[found->defs.items[at]] = 1;
  end_instruction(found);
  return !PyErr_Occurred();
}

/* Adds the loads of the parameters that an instruction is the first to read. */
static int read_loads(const MachineCode *code, Py_ssize_t number, Reading *reading, Operands *found) {
  PyObject *uses = PyList_GetItem(code->lists[0], number);
  Py_ssize_t count = code->loaded_end ? PyTuple_Size(uses) : 0;
  for (Py_ssize_t n = 0; n < count; n++) {
    int is_allocated = 0;
    PyObject *held = words_of(code, PyLong_AsSsize_t(PyTuple_GetItem(uses, n)), &is_allocated);
    if (held == NULL) return 0;
    Py_ssize_t size = PyTuple_Size(held);
    for (Py_ssize_t word = 0; word < size; word++) {
      Py_ssize_t one = PyLong_AsSsize_t(PyTuple_GetItem(held, word)), load = load_of(code, one);
      if (load >= 0 && !reading->is_loaded[place_of(&reading->names, one)] &&
          !read_load(code, load, reading, found))
        return 0;
    }
  }
  return !PyErr_Occurred();
}

static int read_instruction(const MachineCode *code, Py_ssize_t number, Reading *reading, Operands *found) {
  Py_ssize_t guard = PyLong_AsSsize_t(PyList_GetItem(code->lists[3], number));
  if (!read_loads(code, number, reading, found)) return 0;
  begin_instruction(found, number);
  if (!read_registers(code, PyList_GetItem(code->lists[0], number), 0, reading, &found->uses, &found->flags_read))
    return 0;
  if (guard >= 0 && !add_name(reading, &found->flags_read, flag(guard))) return 0;
  if (!read_registers(code, PyList_GetItem(code->lists[1], number), 1, reading, &found->defs, &found->flags_written))
    return 0;
  if (!read_registers(code, PyList_GetItem(code->lists[2], number), 1, reading, &found->kept, NULL)) return 0;
  end_instruction(found);
  return !PyErr_Occurred();
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

static PyObject *operands_new(PyTypeObject *Py_UNUSED(type), PyObject *arguments, PyObject *Py_UNUSED(named)) {
  MachineCode code;
  PyObject *live_out;
  if (!PyArg_ParseTuple(arguments, "OOOOO!O!OO!nnO!", &code.lists[0], &code.lists[1], &code.lists[2], &code.lists[3],
                        &PyList_Type, &code.values, &PyList_Type, &code.allocated, &code.is_eliminated, &PyDict_Type,
                        &code.loads, &code.first, &code.end, &PyList_Type, &live_out))
    return NULL;
  if (!is_machine_code(&code)) return NULL;
  Py_ssize_t most = most_words(&code), after = PyList_Size(live_out);
  if (most < 0) return NULL;
  Py_ssize_t loads = PyDict_Size(code.loads);
  most += after + code.end - code.first + loads; /* and the guards */
  Reading reading = {0};
  Operands *found = new_operands(code.end - code.first + loads, after);
  reading.seen = zeroed(most, sizeof *reading.seen);
  reading.is_loaded = zeroed(most, 1);
  int is_read = read_loaded(&code);
  if (!is_read || !new_numbering(&reading.names, most) || reading.seen == NULL || reading.is_loaded == NULL || found == NULL)
    goto failed;
  for (Py_ssize_t n = 0; n < after; n++)
    found->live_out[n] = place_of(&reading.names, PyLong_AsSsize_t(PyList_GetItem(live_out, n)));
  memset(reading.is_loaded, 1, reading.names.count);
  for (Py_ssize_t number = code.first; number < code.end; number++)
    if (!is_gone(&code, number) && !read_instruction(&code, number, &reading, found)) goto failed;
  found->names = reading.names.count;
  found->words = zeroed(found->names, sizeof *found->words);
  if (PyErr_Occurred()) goto failed;
  if (found->names) memcpy(found->words, reading.names.numbers, found->names * sizeof *found->words);
done:
  PyMem_Free(code.is_loaded);
  free_numbering(&reading.names);
  PyMem_Free(reading.seen);
  PyMem_Free(reading.is_loaded);
  return (PyObject *)found;
failed:
  Py_CLEAR(found);
  goto done;
}

enum { IN_LAST_TURN = 1, IN_FIRST_TURN = 2 };

/* One turn of an unrolled loop; `now` has the current name of each. */
static int add_turn(
    const Operands *body, Operands *found, Py_ssize_t *now, const char *turns, int is_first, int is_last,
    Py_ssize_t *seen) {
  for (Py_ssize_t n = 0; n < body->count; n++) {
    if ((turns[n] == IN_LAST_TURN && !is_last) || (turns[n] == IN_FIRST_TURN && !is_first)) continue;
    const Rows *read[] = {&body->uses, &body->kept};
    begin_instruction(found, body->numbers[n]);
    for (int list = 0; list < 2; list++)
      for (Py_ssize_t at = read[list]->starts[n]; at < read[list]->starts[n + 1]; at++) {
        Py_ssize_t name = now[read[list]->items[at]];
        if (seen[name] == found->count + 1) continue;
        seen[name] = found->count + 1;
        if (!add_item(&found->uses, name)) return 0;
      }
    for (Py_ssize_t at = body->defs.starts[n]; at < body->defs.starts[n + 1]; at++) {
      Py_ssize_t name = body->defs.items[at];
      if (turns[n] != IN_FIRST_TURN) now[name] = is_last ? name : found->names++;
      found->words[now[name]] = body->words[name];
      if (!add_item(&found->defs, now[name])) return 0;
    }
    for (Py_ssize_t at = body->flags_read.starts[n]; at < body->flags_read.starts[n + 1]; at++)
      if (!add_item(&found->flags_read, body->flags_read.items[at])) return 0;
    for (Py_ssize_t at = body->flags_written.starts[n]; at < body->flags_written.starts[n + 1]; at++)
      if (!add_item(&found->flags_written, body->flags_written.items[at])) return 0;
    end_instruction(found);
  }
  return 1;
}

static PyObject *operands_unrolled(PyObject *self, PyObject *arguments) {
  const Operands *body = (Operands *)self;
  Py_ssize_t factor, size;
  const char *turns;
  if (!PyArg_ParseTuple(arguments, "ny#", &factor, &turns, &size)) return NULL;
  Py_ssize_t each = body->defs.starts[body->count] + body->count;
  if (factor < 1 || size != body->count || (each && factor > PY_SSIZE_T_MAX / 64 / each)) {
    PyErr_SetString(PyExc_ValueError, "a loop is unrolled by a factor, and has as many instructions");
    return NULL;
  }
  Operands *found = new_operands(factor * body->count, body->live_count);
  Py_ssize_t most = body->names + factor * body->defs.starts[body->count];
  Py_ssize_t *now = zeroed(most, sizeof *now), *seen = zeroed(most, sizeof *seen);
  if (found == NULL || now == NULL || seen == NULL || (found->words = zeroed(most, sizeof *found->words)) == NULL) {
    Py_CLEAR(found);
  } else {
    if (body->names) memcpy(found->words, body->words, body->names * sizeof *found->words);
    if (body->live_count) memcpy(found->live_out, body->live_out, body->live_count * sizeof *found->live_out);
    for (Py_ssize_t name = 0; name < body->names; name++) now[name] = name;
    found->names = body->names;
    for (Py_ssize_t turn = 1; turn <= factor && found != NULL; turn++)
      if (!add_turn(body, found, now, turns, turn == 1, turn == factor, seen)) Py_CLEAR(found);
  }
  PyMem_Free(now);
  PyMem_Free(seen);
  return (PyObject *)found;
}

static PyObject *operands_numbers(PyObject *self, void *Py_UNUSED(closure)) {
  return tuple_of_numbers(((Operands *)self)->numbers, ((Operands *)self)->count);
}

/* By name, whether it is a virtual register that is not in `elsewhere`. */
static PyObject *operands_counted(PyObject *self, PyObject *arguments) {
  const Operands *operands = (Operands *)self;
  const char *elsewhere;
  Py_ssize_t size;
  if (!PyArg_ParseTuple(arguments, "y#", &elsewhere, &size)) return NULL;
  PyObject *found = PyBytes_FromStringAndSize(NULL, operands->names);
  char *flags = found == NULL ? NULL : PyBytes_AsString(found);
  for (Py_ssize_t name = 0; flags != NULL && name < operands->names; name++) {
    Py_ssize_t word = operands->words[name];
    flags[name] = word >= 0 && (word >= size || !elsewhere[word]);
  }
  return found;
}

static PyObject *operands_used(PyObject *self, void *Py_UNUSED(closure)) {
  return PyLong_FromSsize_t(((Operands *)self)->uses.starts[((Operands *)self)->count]);
}

static PyObject *operands_defined(PyObject *self, void *Py_UNUSED(closure)) {
  return PyLong_FromSsize_t(((Operands *)self)->defs.starts[((Operands *)self)->count]);
}

static void operands_dealloc(PyObject *self) {
  Operands *operands = (Operands *)self;
  PyTypeObject *type = Py_TYPE(self);
  PyMem_Free(operands->numbers);
  PyMem_Free(operands->live_out);
  PyMem_Free(operands->words);
  Rows *rows[] = {&operands->uses, &operands->defs, &operands->kept, &operands->flags_read, &operands->flags_written};
  for (size_t n = 0; n < sizeof rows / sizeof *rows; n++) free_rows(rows[n]);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

#endif
