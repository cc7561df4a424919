"""Modifiers of control flow, barriers and what a warp does together, as `lookup` reads them."""

from __future__ import annotations

from typing import Final

TEXT: Final = """
.sync | Waits until all threads of the mask, or of the warp, execute the instruction together.
.aligned | All threads of the warp must execute this very instruction together.
tcgen05 wgmma | .sync | The threads of the warp wait for each other and execute the instruction together.
bra brx call ret | .uni | Uniform: promises that all active threads of the warp go the same way.
brx | .idx | Chooses a label of a list by its index.

# Barriers
bar barrier | .sync | Waits at the barrier until all threads have arrived.
bar barrier | .arrive | Counts the thread at the barrier, without waiting.
bar barrier | .red | Waits, and reduces a predicate over all threads.
bar barrier | .popc | Counts the threads where the predicate is true.
bar barrier | .and | Returns whether the predicate is true in all threads.
bar barrier | .or | Returns whether the predicate is true in any thread.
bar barrier | .cta | The barrier is one of the CTA's, as without this modifier.
bar | .warp | Of the threads of a warp, by a mask.
barrier | .cluster | The barrier of the cluster.
barrier | .wait | Waits until all threads of the cluster have arrived.
barrier | .acquire | Later accesses see what others wrote before they arrived.
barrier | .release | Earlier accesses become visible to those who wait.
barrier | .relaxed | Orders no memory accesses.

# In a warp
vote | .all | True if the predicate is true in all threads.
vote | .any | True if the predicate is true in any thread.
vote | .uni | True if the predicate has the same value in all threads.
vote | .ballot | Gives a mask: a bit for each thread where the predicate is true.
match | .any | Gives each thread the mask of those that have the same value.
match | .all | Gives the mask if all threads have the same value, else 0.
shfl | .up | Reads from the lane b below: a shift to higher lanes.
shfl | .down | Reads from the lane b above: a shift to lower lanes.
shfl | .bfly | Reads from the lane whose number is this one's xor b: a butterfly.
shfl | .idx | Reads from lane b.

# Grids and threads
griddepcontrol | .launch_dependents | Lets the grids that depend on this one start.
griddepcontrol | .wait | Waits until the grids that this one depends on are done.
setmaxnreg | .inc | Asks for more registers, and waits until there are enough.
setmaxnreg | .dec | Gives registers back.
pmevent | .mask | Triggers all events whose bits are set in a mask.
"""
