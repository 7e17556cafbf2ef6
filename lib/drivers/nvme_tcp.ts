/**
 * NVMe over TCP: both ends cut their protocol headers from a page-fragment cache of each queue and keep them for the
 * queue's life.
 *
 * @module
 */

import { Gfp } from "../mm/gfp.ts";
import type { PageAllocator } from "../mm/page_alloc.ts";
import { flag, whole } from "../sim/check.ts";
import {
  PageFragClient,
  type PageFragClientOptions,
} from "./page_frag_client.ts";

/**
 * `sizeof(struct nvme_tcp_cmd_pdu)`: common header and command, bytes.
 *
 * @example
 * ```ts
 * import { NVME_TCP_CMD_PDU } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(NVME_TCP_CMD_PDU, 72);
 * ```
 */
export const NVME_TCP_CMD_PDU = 72;
/**
 * `sizeof` of response, data and R2T PDUs, bytes.
 *
 * @example
 * ```ts
 * import { NVME_TCP_CMD_PDU, NVME_TCP_SHORT_PDU } from "@truesize/lab";
 * import { assert } from "@std/assert";
 *
 * assert(NVME_TCP_SHORT_PDU < NVME_TCP_CMD_PDU);
 * ```
 */
export const NVME_TCP_SHORT_PDU = 24;
/** Bytes of a header digest (CRC32C) behind each PDU. */
const HEADER_DIGEST = 4;
/** `NVMF_DEF_QUEUE_SIZE`: commands of an I/O queue. */
const QUEUE_SIZE = 128;
/** `NVME_AQ_MQ_TAG_DEPTH`: commands of the admin queue. */
const ADMIN_DEPTH = 30;
/** Requests carry zeroed headers. */
const GFP = Gfp.GFP_KERNEL | Gfp.__GFP_ZERO;

/** Options of {@linkcode NvmeTcpHost} and {@linkcode NvmeTcpTarget}. */
export interface NvmeTcpOptions extends PageFragClientOptions {
  /** I/O queues, 0 to 128; 1 when absent. */
  readonly queues?: number | undefined;
  /** Commands of each I/O queue, 2 to 1,024; 128 when absent. */
  readonly queueSize?: number | undefined;
  /** Whether headers are followed by a digest; false when absent. */
  readonly headerDigest?: boolean | undefined;
}

/** Bytes behind each header. */
function digestOf(options: NvmeTcpOptions): number {
  return flag("headerDigest", options.headerDigest ?? false)
    ? HEADER_DIGEST
    : 0;
}

/**
 * The host (drivers/nvme/host/tcp.c: `nvme_tcp_init_request`, `nvme_tcp_alloc_async_req`, `nvme_tcp_free_queue`): a 72-byte
 * command PDU for each request of a queue, made with the tag set, and one for asynchronous events. Its queues have drained
 * their caches by hand since October 2021; before, each connection left blocks behind. Depths of the queues are UNVERIFIED.
 *
 * @example A block of 32 KiB for the 128 requests of a queue
 * ```ts
 * import { kernel, NvmeTcpHost, PageAllocator } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const held = (["none", "by hand"] as const).map((teardown) => {
 *   const pages = new PageAllocator(kernel("6.8"));
 *   const host = new NvmeTcpHost(pages, { queues: 8, teardown });
 *   host.start();
 *   host.stop();
 *   return pages.counters.pgalloc - pages.counters.pgfree;
 * });
 * assertEquals(held, [9 * 8, 0]);
 * ```
 */
export class NvmeTcpHost extends PageFragClient {
  /** Bytes of each request. */
  readonly requestSize: number;
  readonly #queueSize: number;
  readonly #pdus: number[] = [];
  readonly #queueOf: number[] = [];
  #async = -1;

  /**
   * A host that is not connected.
   *
   * @param pages The page allocator.
   * @param options Queues and digests.
   * @throws {RangeError} An option is out of range.
   * @throws {TypeError} `headerDigest` is no boolean.
   */
  constructor(pages: PageAllocator, options: NvmeTcpOptions = {}) {
    super(pages, 1 + whole("queues", options.queues ?? 1, 0, 128), options);
    this.#queueSize = whole(
      "queueSize",
      options.queueSize ?? QUEUE_SIZE,
      2,
      1024,
    );
    this.requestSize = NVME_TCP_CMD_PDU + digestOf(options);
  }

  /** Connects: queue 0 is the admin queue. */
  start(): void {
    this.#async = this.alloc(0, this.requestSize, GFP);
    for (let queue = 0; queue < this.caches.length; queue++) {
      const depth = queue === 0 ? ADMIN_DEPTH : this.#queueSize;
      for (let i = 0; i < depth; i++) {
        const address = this.alloc(queue, this.requestSize, GFP);
        if (address < 0) continue;
        this.#pdus.push(address);
        this.#queueOf.push(queue);
      }
    }
  }

  /** Commands use the PDUs that there are. */
  run(n: number): void {
    whole("n", n, 0, 1 << 24);
  }

  /**
   * Loses the connection and makes a new one (`nvme_tcp_error_recovery_work`): the queues and their caches go, the requests
   * stay with the PDUs of the old blocks.
   */
  reset(): void {
    this.#freeQueues();
    this.#async = this.alloc(0, this.requestSize, GFP);
  }

  /** Removes the controller: the tag sets and their PDUs go, then the queues. */
  stop(): void {
    for (let i = 0; i < this.#pdus.length; i++) {
      this.caches[this.#queueOf[i]!]!.free(this.#pdus[i]!);
    }
    this.#pdus.length = 0;
    this.#queueOf.length = 0;
    this.#freeQueues();
  }

  #freeQueues(): void {
    if (this.#async >= 0) this.caches[0]!.free(this.#async);
    this.#async = -1;
    for (let queue = 0; queue < this.caches.length; queue++) {
      this.drain(queue);
      // The queue's memory is set to 0 when it is made again; without a drain its block is lost.
      if (this.teardown === "none") this.forget(queue);
    }
  }
}

/**
 * The target (drivers/nvme/target/tcp.c: `nvmet_tcp_alloc_cmd`, `nvmet_tcp_release_queue_work`): four PDUs for each of twice
 * as many commands as the queue has, and four for the connect command, which comes before digests are agreed on. The lines by
 * hand (October 2021 to 6.8) do not look whether there is a block. Each {@linkcode NvmeTcpTarget} is one connection of
 * `queues` queues, without the admin queue.
 *
 * @example
 * ```ts
 * import { kernel, NvmeTcpTarget, PageAllocator } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const pages = new PageAllocator(kernel("6.12"));
 * const target = new NvmeTcpTarget(pages, { queues: 1 });
 * target.start();
 * target.run(100);
 * target.stop();
 * assertEquals(pages.counters.pgalloc - pages.counters.pgfree, 0);
 * ```
 */
export class NvmeTcpTarget extends PageFragClient {
  /** Bytes of a command's four requests. */
  readonly requestSizes: readonly number[];
  readonly #commands: number;
  readonly #pdus: number[][];

  /**
   * A target without a connection.
   *
   * @param pages The page allocator.
   * @param options Queues and digests.
   * @throws {RangeError} An option is out of range.
   * @throws {TypeError} `headerDigest` is no boolean.
   */
  constructor(pages: PageAllocator, options: NvmeTcpOptions = {}) {
    super(pages, whole("queues", options.queues ?? 1, 0, 128), options);
    this.#commands = 2 *
      whole("queueSize", options.queueSize ?? QUEUE_SIZE, 2, 1024);
    const digest = digestOf(options);
    this.requestSizes = PDUS.map((bytes) => bytes + digest);
    this.#pdus = this.caches.map(() => []);
  }

  /** Accepts the connections and installs their queues. */
  start(): void {
    for (let queue = 0; queue < this.caches.length; queue++) {
      this.#command(queue, PDUS);
      for (let i = 0; i < this.#commands; i++) {
        this.#command(queue, this.requestSizes);
      }
    }
  }

  /** Commands use the PDUs that there are. */
  run(n: number): void {
    whole("n", n, 0, 1 << 24);
  }

  /** Releases the queues: their commands, then their blocks. */
  stop(): void {
    for (let queue = 0; queue < this.caches.length; queue++) {
      const pdus = this.#pdus[queue]!;
      for (const address of pdus) this.caches[queue]!.free(address);
      pdus.length = 0;
      this.drain(queue);
    }
  }

  /** The lines by hand do not look whether there is a block. */
  protected override get checksBlock(): boolean {
    return false;
  }

  #command(queue: number, sizes: readonly number[]): void {
    for (const bytes of sizes) {
      const address = this.alloc(queue, bytes, GFP);
      if (address >= 0) this.#pdus[queue]!.push(address);
    }
  }
}

/** Command, response, data and R2T. */
const PDUS: readonly number[] = [
  NVME_TCP_CMD_PDU,
  NVME_TCP_SHORT_PDU,
  NVME_TCP_SHORT_PDU,
  NVME_TCP_SHORT_PDU,
];
