/**
 * A split virtqueue as vhost shares it with its guest: what is offered, taken, used, and when one side tells the other.
 *
 * @module
 */

import { flag, whole } from "../sim/check.ts";

/** Indices of a split ring are 16 bits wide. */
const INDEX = 0xffff;
/** Most entries of a split ring. */
const MAX_RING = 32768;
/** Most bytes of one descriptor chain here: what a signed 30-bit length holds. */
const MAX_LENGTH = 2 ** 30 - 1;

/** How a {@linkcode VhostRing} is made. An option given as `undefined` is absent. */
export interface VhostRingOptions {
  /** Entries, a power of two up to 32,768; 256 when absent, as the thread's tool has it. */
  readonly num?: number | undefined;
  /** Whether `VIRTIO_RING_F_EVENT_IDX` was negotiated; true when absent. */
  readonly eventIdx?: boolean | undefined;
}

/**
 * A ring of descriptor chains, each known by its length in bytes. The guest's side models drivers/virtio/virtio_ring.c
 * (`virtqueue_add_split`, `virtqueue_kick_prepare_split`, `virtqueue_get_buf_ctx_split`), the host's drivers/vhost/vhost.c
 * (`vhost_get_vq_desc`, `vhost_add_used_n`, `vhost_enable_notify`). Chains are used in the order in which they were offered.
 *
 * @example The guest kicks only if the host went to sleep
 * ```ts
 * import { VhostRing } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const ring = new VhostRing();
 * ring.add(268);
 * assertEquals(ring.kick(), true);
 * ring.add(268);
 * assertEquals(ring.kick(), false);
 * while (!ring.empty) ring.take();
 * ring.enableNotify();
 * ring.add(268);
 * assertEquals(ring.kick(), true);
 * ```
 */
export class VhostRing {
  /** Entries. */
  readonly num: number;
  /** Whether the sides say from which index on they want to be told. */
  readonly eventIdx: boolean;
  readonly #mask: number;
  readonly #avail: Int32Array;
  readonly #used: Int32Array;
  // The guest's places, then the host's.
  #availIdx = 0;
  #kicked = 0;
  #seen = 0;
  #lastAvail = 0;
  #cached = 0;
  #usedIdx = 0;
  #staged = 0;
  // What the host says about being told: from which index on, or not at all.
  #availEvent = 0;
  #noNotify = false;

  /**
   * An empty ring whose host wants to be told of the first chain.
   *
   * @param options Size and features.
   * @throws {RangeError} `num` is no power of two up to 32,768.
   * @throws {TypeError} `eventIdx` is no boolean.
   */
  constructor(options: VhostRingOptions = {}) {
    const { num = 256, eventIdx = true } = options;
    if (
      !Number.isInteger(num) || num < 1 || num > MAX_RING ||
      (num & (num - 1)) !== 0
    ) {
      throw new RangeError(
        `num ${num}: a power of two from 1 to ${MAX_RING} is allowed`,
      );
    }
    this.num = num;
    this.eventIdx = flag("eventIdx", eventIdx);
    this.#mask = num - 1;
    this.#avail = new Int32Array(num);
    this.#used = new Int32Array(num);
  }

  /** Chains that the guest has offered and not got back. */
  get inFlight(): number {
    return (this.#availIdx - this.#seen) & INDEX;
  }

  /** Whether the host has taken all that was offered (`vhost_vq_avail_empty`). */
  get empty(): boolean {
    return this.#availIdx === this.#lastAvail;
  }

  /**
   * The guest offers a chain (`virtqueue_add_outbuf`, `virtqueue_add_inbuf`).
   *
   * @param length Bytes, virtio_net header included, 1 to 2^30 - 1.
   * @param fault Whether the host cannot read it (a guest's bad address): copying from it fails with `-EFAULT`.
   * @returns Whether there was room; a full ring is `-ENOSPC`.
   * @throws {RangeError} `length` is out of range.
   */
  add(length: number, fault = false): boolean {
    if ((length | 0) !== length || length < 1 || length > MAX_LENGTH) {
      throw new RangeError(
        `length ${length}: a whole number of bytes from 1 to ${MAX_LENGTH} is allowed`,
      );
    }
    if (this.inFlight >= this.num) return false;
    this.#avail[this.#availIdx & this.#mask] = fault ? -length : length;
    this.#availIdx = (this.#availIdx + 1) & INDEX;
    return true;
  }

  /**
   * Whether the guest must write to the kick eventfd for what it added since the last call (`virtqueue_kick_prepare`,
   * `vring_need_event`).
   */
  kick(): boolean {
    const added = (this.#availIdx - this.#kicked) & INDEX;
    this.#kicked = this.#availIdx;
    if (!this.eventIdx) return !this.#noNotify;
    return ((this.#availIdx - this.#availEvent - 1) & INDEX) < added;
  }

  /**
   * The guest takes a used chain back (`virtqueue_get_buf`).
   *
   * @returns Bytes that the host wrote into it, or -1 if none is used.
   */
  getBuf(): number {
    if (this.#seen === this.#usedIdx) return -1;
    const length = this.#used[this.#seen & this.#mask]!;
    this.#seen = (this.#seen + 1) & INDEX;
    return length;
  }

  /**
   * The host takes the next chain (`vhost_get_vq_desc`).
   *
   * @returns Its length in bytes, negative where it cannot be read, or 0 if there is none.
   */
  take(): number {
    if (this.#lastAvail === this.#cached) this.#cached = this.#availIdx;
    if (this.#lastAvail === this.#cached) return 0;
    const length = this.#avail[this.#lastAvail & this.#mask]!;
    this.#lastAvail = (this.#lastAvail + 1) & INDEX;
    return length;
  }

  /**
   * The host puts back what it took last (`vhost_discard_vq_desc`).
   *
   * @param n Chains, as many as were taken and not used at most.
   * @throws {RangeError} That many were not taken.
   */
  discard(n: number): void {
    const taken = (this.#lastAvail - this.#usedIdx - this.#staged) & INDEX;
    this.#lastAvail = (this.#lastAvail - whole("n", n, 0, taken)) & INDEX;
  }

  /**
   * The host notes the oldest chain that it took as used, and keeps it to itself until {@linkcode VhostRing.signalUsed}:
   * an entry of `vq->heads`.
   *
   * @param length Bytes written into it, 0 for a chain that was read.
   */
  stageUsed(length: number): void {
    this.#used[(this.#usedIdx + this.#staged) & this.#mask] = length;
    this.#staged++;
  }

  /** Chains noted as used that the guest has not been shown: `done_idx`. */
  get staged(): number {
    return this.#staged;
  }

  /**
   * Shows the guest what was noted (`vhost_add_used_and_signal_n`).
   *
   * @returns How many chains.
   */
  signalUsed(): number {
    const n = this.#staged;
    this.#usedIdx = (this.#usedIdx + n) & INDEX;
    this.#staged = 0;
    return n;
  }

  /** The host does not want to be told (`vhost_disable_notify`): with event indices it just does not move its index on. */
  disableNotify(): void {
    this.#noNotify = true;
  }

  /**
   * The host wants to be told of the next chain (`vhost_enable_notify`).
   *
   * @returns Whether a chain came since the host last looked.
   */
  enableNotify(): boolean {
    this.#noNotify = false;
    this.#availEvent = this.#availIdx;
    return this.#availIdx !== this.#cached;
  }
}
