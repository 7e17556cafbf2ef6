/** tcp_mem: three marks, and what each does. */

import { assertEquals } from "@std/assert";
import { TcpMemory } from "../../lib/tcp/memory.ts";

Deno.test("tcp_mem: below the first mark all is well, above the second there is pressure until below the first", () => {
  const memory = new TcpMemory([10, 20, 30]);
  memory.sockets = 1;
  assertEquals([memory.take(10, 0, false), memory.pressure], [true, false]);
  assertEquals([memory.take(10, 0, false), memory.pressure], [true, false]);
  assertEquals([memory.take(1, 0, false), memory.pressure], [true, true]);
  memory.give(11);
  assertEquals([memory.allocated, memory.pressure], [10, true]);
  memory.give(1);
  assertEquals([memory.pressure, memory.pressures], [false, 1]);
});

Deno.test("tcp_mem: under pressure a socket gets its share of the third mark, or what its least buffer needs", () => {
  const memory = new TcpMemory([10, 20, 30]);
  memory.sockets = 10;
  memory.force(25);
  // Three pages is what each of ten may hold.
  assertEquals(memory.take(1, 2 * 4096, false), true);
  assertEquals(memory.take(1, 3 * 4096, false), false);
  assertEquals(memory.take(1, 3 * 4096, true), true);
  assertEquals(memory.allocated, 27);
});

Deno.test("tcp_mem: beyond the third mark nothing is granted, but what is forced", () => {
  const memory = new TcpMemory([10, 20, 30]);
  memory.sockets = 1;
  memory.force(30);
  assertEquals([memory.take(1, 0, true), memory.allocated], [false, 30]);
  memory.force(1);
  assertEquals(memory.allocated, 31);
});
