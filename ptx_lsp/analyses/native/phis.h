/* The registers that may need phis (`ptx_lsp/analyses/dataflow/ambiguous_registers.py`), and where they need them
 * (`phi_placement.py`). */

#ifndef PTX_PHIS_H
#define PTX_PHIS_H

#include "block_summary.h"
#include "collections.h"

/* The summary of a block in a list; NULL with an exception if it is something else. */
static const BlockSummary *summary_at(PyObject *summaries, Py_ssize_t block) {
  PyObject *found = PyList_GetItem(summaries, block);
  if (found != NULL && Py_TYPE(found) == block_summary_type) return (BlockSummary *)found;
  if (found != NULL) PyErr_SetString(PyExc_TypeError, "each block has a summary");
  return NULL;
}

/* -- ambiguous registers -------------------------------------------------------------------------------- */

enum { NO_HOME = -2, SEVERAL_HOMES = -1 };

typedef struct {
  PyObject *order, *summaries, *first, *last; /* the last two: of the subtree of each block */
  Py_ssize_t blocks, count;
  Py_ssize_t *home; /* the only block that writes each register */
  char *is_wanted, *is_read, *is_ambiguous;
} Crossing;

/* Whether `below` is in the subtree of `above`; -1 with an exception. */
static int is_below(const Crossing *c, Py_ssize_t above, Py_ssize_t below) {
  Py_ssize_t place = index_in(PyList_GetItem(c->first, below), c->blocks);
  Py_ssize_t first = index_in(PyList_GetItem(c->first, above), c->blocks);
  Py_ssize_t last = index_in(PyList_GetItem(c->last, above), c->blocks);
  return place < 0 || first < 0 || last < 0 ? -1 : first <= place && place <= last;
}

static int add_writes(Crossing *c, Py_ssize_t block, PyObject *defined) {
  for (Py_ssize_t n = 0; n < PyTuple_Size(defined); n++) {
    Py_ssize_t register_ = index_in(PyTuple_GetItem(defined, n), c->count);
    if (register_ < 0) return 0;
    c->home[register_] = c->home[register_] == NO_HOME ? block : SEVERAL_HOMES;
  }
  return 1;
}

/* Notes that a block reads a register before it has completely written it; false with an exception. */
static int add_read(Crossing *c, Py_ssize_t block, PyObject *name) {
  Py_ssize_t register_ = index_in(name, c->count);
  if (register_ < 0) return 0;
  if (!c->is_wanted[register_]) return 1;
  Py_ssize_t home = c->home[register_];
  c->is_read[register_] = 1;
  if (home < 0 || home == block) {
    c->is_ambiguous[register_] = 1;
  } else if (!c->is_ambiguous[register_]) {
    int is_dominated = is_below(c, home, block);
    if (is_dominated < 0) return 0;
    c->is_ambiguous[register_] = !is_dominated;
  }
  return 1;
}

/* Follows the blocks in their order, and finds where registers are written, or read. */
static int follow(Crossing *c, int is_reading) {
  for (Py_ssize_t n = 0; n < PyTuple_Size(c->order); n++) {
    Py_ssize_t block = index_in(PyTuple_GetItem(c->order, n), c->blocks);
    const BlockSummary *summary = block < 0 ? NULL : summary_at(c->summaries, block);
    if (summary == NULL) return 0;
    if (!is_reading && !add_writes(c, block, summary->defined)) return 0;
    for (Py_ssize_t k = 0; is_reading && k < PyTuple_Size(summary->exposed); k++)
      if (!add_read(c, block, PyTuple_GetItem(summary->exposed, k))) return 0;
  }
  return 1;
}

/* Registers that are read elsewhere but not completely written are ambiguous, too. Gives the registers that are read,
 * and the ambiguous ones. */
static PyObject *found_registers(Crossing *c) {
  PyObject *read = PyList_New(0), *ambiguous = PyList_New(0), *crossing = NULL;
  for (Py_ssize_t register_ = 0; register_ < c->count && read != NULL && ambiguous != NULL; register_++) {
    if (!c->is_read[register_]) continue;
    PyObject *name = PyLong_FromSsize_t(register_);
    int is_ambiguous = c->is_ambiguous[register_], failed = name == NULL;
    if (!failed && !is_ambiguous) {
      int is_killed = PySet_Contains(summary_at(c->summaries, c->home[register_])->killed, name);
      failed = is_killed < 0;
      is_ambiguous = !is_killed;
    }
    failed = failed || PyList_Append(read, name) < 0 || (is_ambiguous && PyList_Append(ambiguous, name) < 0);
    Py_XDECREF(name);
    if (failed) Py_CLEAR(read);
  }
  if (read != NULL && ambiguous != NULL) crossing = PyFrozenSet_New(read);
  Py_XDECREF(read);
  if (crossing != NULL) return Py_BuildValue("NN", crossing, ambiguous);
  Py_XDECREF(ambiguous);
  return NULL;
}

static PyObject *crossing_registers(PyObject *Py_UNUSED(module), PyObject *arguments) {
  PyObject *returned, *among, *found = NULL;
  Crossing c;
  if (!PyArg_ParseTuple(arguments, "O!O!O(O!O!)On", &PyTuple_Type, &c.order, &PyList_Type, &c.summaries, &returned,
                        &PyList_Type, &c.first, &PyList_Type, &c.last, &among, &c.count))
    return NULL;
  if (c.count < 0) return PyErr_Format(PyExc_ValueError, "%zd registers", c.count);
  c.blocks = PyList_Size(c.summaries);
  c.home = zeroed(c.count, sizeof *c.home);
  char *marks = c.is_wanted = zeroed(c.count, 3);
  if (c.home != NULL && marks != NULL) {
    c.is_read = marks + c.count;
    c.is_ambiguous = c.is_read + c.count;
    for (Py_ssize_t register_ = 0; register_ < c.count; register_++) c.home[register_] = NO_HOME;
    if (among == Py_None) memset(c.is_wanted, 1, c.count);
    int failed = (among != Py_None && !mark_all(among, c.is_wanted, c.count)) || !follow(&c, 0) || !follow(&c, 1);
    PyObject *all = failed ? NULL : PyObject_GetIter(returned), *name; /* the last block reads them */
    while (all != NULL && (name = PyIter_Next(all)) != NULL) {
      int is_added = add_read(&c, c.blocks - 1, name);
      Py_DECREF(name);
      if (!is_added) break;
    }
    Py_XDECREF(all);
    if (!PyErr_Occurred()) found = found_registers(&c);
  }
  PyMem_Free(c.home);
  PyMem_Free(marks);
  return found;
}

/* -- phis ----------------------------------------------------------------------------------------------- */

typedef struct {
  PyObject *order, *summaries, *frontiers, *predecessors, *places, *live_in;
  Py_ssize_t blocks, count, left;
  Rows frontier;             /* of each block */
  Py_ssize_t *met, met_count; /* the merged registers in the order of their first writes */
  Py_ssize_t *last_write;     /* of each register, plus 1; 0 for none */
  Py_ssize_t *writer, *before; /* the block of each write, and the write before it of the same register, plus 1 */
  char *is_merged, *is_kept;
  PyObject **live;  /* the bits that are live at the start of each block, as bytes; NULL until they are needed */
  PyObject **found; /* the registers with a phi in each block; NULL for none */
} Placement;

static int read_frontiers(Placement *p) {
  if (!new_rows(&p->frontier, p->blocks)) return 0;
  for (Py_ssize_t block = 0; block < p->blocks; block++) {
    PyObject *own = PyTuple_GetItem(p->frontiers, block), *all = NULL, *other;
    begin_row(&p->frontier);
    if (own == NULL || (PyObject_Size(own) > 0 && (all = PyObject_GetIter(own)) == NULL)) return 0;
    while (all != NULL && (other = PyIter_Next(all)) != NULL) {
      Py_ssize_t index = index_in(other, p->blocks);
      Py_DECREF(other);
      if (index < 0 || !add_item(&p->frontier, index)) break;
    }
    Py_XDECREF(all);
    if (PyErr_Occurred()) return 0;
    end_row(&p->frontier);
  }
  return 1;
}

/* Whether a register with a place among the live bits, or -1, is live at the start of a block; -1 with an exception. */
static int is_live(Placement *p, Py_ssize_t place, Py_ssize_t block) {
  if (place < 0) return 0;
  if (p->live[block] == NULL) {
    PyObject *bits = PyList_GetItem(p->live_in, block);
    static PyObject *name;
    if (bits == NULL) return -1;
    p->live[block] = converted(bits, &name, "to_bytes", PyLong_FromSsize_t(PyDict_Size(p->places) / 8 + 1));
    if (p->live[block] == NULL) return -1;
  }
  const char *bytes = PyBytes_AsString(p->live[block]);
  return bytes == NULL ? -1 : bytes[place / 8] >> place % 8 & 1;
}

/* Adds a phi, and charges its inputs as visits; false with an exception. */
static int add_phi(Placement *p, PyObject *name, Py_ssize_t block) {
  Py_ssize_t inputs = PyTuple_Size(PyTuple_GetItem(p->predecessors, block));
  if (inputs < 0) return 0;
  p->left -= inputs;
  if (p->found[block] == NULL) p->found[block] = PyList_New(0);
  return p->found[block] != NULL && PyList_Append(p->found[block], name) == 0;
}

/* The place of a register among the live bits; -1 if it has none. */
static Py_ssize_t live_place(Placement *p, PyObject *name) {
  PyObject *place = PyDict_GetItemWithError(p->places, name);
  return place == NULL ? -1 : index_in(place, PyDict_Size(p->places));
}

/* Places the phis of a register. `waiting` has room for twice the blocks; `seen` has the last register, plus 1, with a
 * phi in each block. False if that takes too many visits, or with an exception. */
static int place_phis(Placement *p, Py_ssize_t register_, Py_ssize_t *waiting, Py_ssize_t *seen) {
  PyObject *name = PyLong_FromSsize_t(register_);
  Py_ssize_t place = name == NULL ? -1 : live_place(p, name), size = 0;
  for (Py_ssize_t write = p->last_write[register_]; write && size < p->blocks; write = p->before[write - 1])
    waiting[size++] = p->writer[write - 1];
  while (size && p->left >= 0 && !PyErr_Occurred()) {
    Py_ssize_t writer = waiting[--size];
    p->left -= row_size(&p->frontier, writer);
    for (Py_ssize_t n = p->frontier.starts[writer]; p->left >= 0 && n < p->frontier.starts[writer + 1]; n++) {
      Py_ssize_t block = p->frontier.items[n];
      if (seen[block] == register_ + 1) continue;
      int is_placed = p->is_kept[register_] ? 1 : is_live(p, place, block);
      if (is_placed < 0 || (is_placed && !add_phi(p, name, block))) break;
      if (!is_placed) continue;
      seen[block] = register_ + 1;
      waiting[size++] = block;
    }
  }
  Py_XDECREF(name);
  return p->left >= 0 && !PyErr_Occurred();
}

/* Finds the blocks that write each merged register. */
static int read_writers(Placement *p) {
  Py_ssize_t most = 0, count = 0;
  for (Py_ssize_t block = 0; block < p->blocks; block++) {
    const BlockSummary *summary = summary_at(p->summaries, block);
    if (summary == NULL) return 0;
    most += PyTuple_Size(summary->defined);
  }
  if ((p->writer = zeroed(most, sizeof *p->writer)) == NULL) return 0;
  if ((p->before = zeroed(most, sizeof *p->before)) == NULL) return 0;
  for (Py_ssize_t n = 0; n < PyTuple_Size(p->order); n++) {
    Py_ssize_t block = index_in(PyTuple_GetItem(p->order, n), p->blocks);
    if (block < 0) return 0;
    PyObject *defined = summary_at(p->summaries, block)->defined;
    for (Py_ssize_t k = 0; k < PyTuple_Size(defined); k++) {
      Py_ssize_t register_ = index_in(PyTuple_GetItem(defined, k), p->count);
      if (register_ < 0) return 0;
      if (count == most) return PyErr_Format(PyExc_ValueError, "the order has blocks twice") != NULL;
      if (!p->is_merged[register_]) continue;
      if (!p->last_write[register_]) p->met[p->met_count++] = register_;
      p->before[count] = p->last_write[register_];
      p->writer[count] = block;
      p->last_write[register_] = ++count;
    }
  }
  return 1;
}

/* The registers with phis by block, and the visits left; None if there are too few. */
static PyObject *place_all(Placement *p) {
  Py_ssize_t *seen = zeroed(p->blocks, sizeof *seen), *waiting = zeroed(2 * p->blocks, sizeof *waiting);
  PyObject *found = NULL;
  int is_within = 1;
  if (seen != NULL && waiting != NULL && read_frontiers(p) && read_writers(p)) {
    for (Py_ssize_t n = 0; n < p->met_count && is_within; n++) is_within = place_phis(p, p->met[n], waiting, seen);
    if (!PyErr_Occurred()) found = is_within ? PyDict_New() : NONE;
  }
  for (Py_ssize_t block = 0; found != NULL && found != Py_None && block < p->blocks; block++) {
    if (p->found[block] == NULL) continue;
    PyObject *number = PyLong_FromSsize_t(block);
    if (number == NULL || PyDict_SetItem(found, number, p->found[block]) < 0) Py_CLEAR(found);
    Py_XDECREF(number);
  }
  PyMem_Free(seen);
  PyMem_Free(waiting);
  return found == NULL || found == Py_None ? found : Py_BuildValue("Nn", found, p->left);
}

static PyObject *placed_phis(PyObject *Py_UNUSED(module), PyObject *arguments) {
  PyObject *merged, *kept, *found = NULL;
  Placement p = {.found = NULL};
  if (!PyArg_ParseTuple(arguments, "O!O!OOO!O!O!O!nn", &PyTuple_Type, &p.order, &PyList_Type, &p.summaries, &merged,
                        &kept, &PyTuple_Type, &p.frontiers, &PyTuple_Type, &p.predecessors, &PyDict_Type, &p.places,
                        &PyList_Type, &p.live_in, &p.count, &p.left))
    return NULL;
  p.blocks = PyList_Size(p.summaries);
  if (p.count < 0 || PyTuple_Size(p.frontiers) != p.blocks || PyTuple_Size(p.predecessors) != p.blocks)
    return PyErr_Format(PyExc_ValueError, "each block has a frontier and predecessors");
  Py_ssize_t *numbers = p.met = zeroed(p.count, 2 * sizeof *p.met);
  char *marks = p.is_merged = zeroed(p.count, 2);
  PyObject **objects = p.live = zeroed(p.blocks, 2 * sizeof *p.live);
  if (numbers != NULL && marks != NULL && objects != NULL) {
    p.last_write = p.met + p.count;
    p.is_kept = p.is_merged + p.count;
    p.found = p.live + p.blocks;
    if (mark_all(merged, p.is_merged, p.count) && mark_all(kept, p.is_kept, p.count)) found = place_all(&p);
    for (Py_ssize_t n = 0; n < 2 * p.blocks; n++) Py_XDECREF(objects[n]);
  }
  free_rows(&p.frontier);
  PyMem_Free(p.writer);
  PyMem_Free(p.before);
  PyMem_Free(numbers);
  PyMem_Free(marks);
  PyMem_Free(objects);
  return found;
}

#endif
