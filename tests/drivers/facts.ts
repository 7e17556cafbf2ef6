/** Kernels between the releases, for tests: 3.12 with the mergeable buffers of late 2013. @module */

import type { Fact, Kernel } from "../../lib/kernel.ts";
import { kernel } from "../../lib/releases/mod.ts";

function fact<T>(value: T): Fact<T> {
  return {
    value,
    file: "drivers/net/virtio_net.c",
    symbol: "MERGE_BUFFER_LEN",
    origin: "for this test",
  };
}

/** 3.12 with mergeable buffers of a fixed length: 1,518 (2613af0ed18a) or 1,536 bytes (3.13). */
export function fixedBuffers(length: number): Kernel {
  return kernel("3.12").with(`buffers of ${length}`, {
    virtio: {
      mergeable: fact<"mtu">("mtu"),
      bufferMin: fact(length),
      coalesces: fact(true),
      bigReceives: fact(true),
    },
    skbPageFrag: { fits: fact<"offset + sz <= size">("offset + sz <= size") },
  });
}
