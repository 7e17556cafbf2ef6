/**
 * How much window a piece of receive memory is worth, and back.
 *
 * @module
 */

/**
 * Window that `space` bytes of memory give under `tcp_adv_win_scale`.
 *
 * Models `tcp_win_from_space` (include/net/tcp.h) up to 6.5.
 *
 * @param advWinScale `net.ipv4.tcp_adv_win_scale`, -31 to 31.
 * @param space Memory, bytes; may be negative.
 */
export function winFromSpace(advWinScale: number, space: number): number {
  return advWinScale > 0
    ? space - (space >> advWinScale)
    : space >> -advWinScale;
}

/**
 * Window that `space` bytes of memory give under a socket's `scaling_ratio`, of 256.
 *
 * Models `tcp_win_from_space` (include/net/tcp.h) from 6.6 on.
 */
export function winFromSpaceByRatio(ratio: number, space: number): number {
  return Math.floor(space * ratio / 256);
}

/** Memory that a window of `win` bytes needs at `scaling_ratio` (`tcp_space_from_win`, 6.6+). */
export function spaceFromWin(ratio: number, win: number): number {
  return Math.floor(win * 256 / ratio);
}

/** The least power of two that holds `x` (`roundup_pow_of_two`). */
export function powerOfTwoAbove(x: number): number {
  return x <= 1 ? 1 : 2 ** (32 - Math.clz32(x - 1));
}
