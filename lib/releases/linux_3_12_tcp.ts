/** TCP of Linux 3.12. @module */

import type { Facts, TcpFacts } from "../kernel.ts";
import { fact } from "./release.ts";

const TREE = "3.12.24 tree, by the specification";

/** TCP's rules in 3.12, all but the size of a sender's head. */
export const tcp_3_12: Omit<Facts<TcpFacts>, "linear"> = {
  rmem: fact(
    [4096, 87380, 6291456],
    "net/ipv4/tcp.c: tcp_init: sysctl_tcp_rmem",
    `${TREE}; the greatest needs 768 MiB of free low memory`,
  ),
  wmem: fact(
    [4096, 16384, 4194304],
    "net/ipv4/tcp.c: tcp_init: sysctl_tcp_wmem",
    `${TREE}; the greatest needs 512 MiB of free low memory`,
  ),
  initialRcvbuf: fact("fixup", "net/ipv4/tcp_input.c: tcp_fixup_rcvbuf", TREE),
  sndbufPerMss: fact(
    "truesize",
    "net/ipv4/tcp_input.c: tcp_fixup_sndbuf",
    TREE,
  ),
  sndbufInitCwnd: fact(false, "net/ipv4/tcp_input.c: tcp_new_space", TREE),
  drs: fact("twice copied", "net/ipv4/tcp_input.c: tcp_rcv_space_adjust", TREE),
  lowRtt: fact(
    0,
    "net/ipv4/tcp_input.c: tcp_rcvbuf_grow",
    "absent up to 6.18 as measured (buffers doubled in full at 322 and 821 us); later 6.18.y have 1,000",
  ),
  space: fact("adv_win_scale", "include/net/tcp.h: tcp_win_from_space", TREE),
  scalingRatio: fact(
    0,
    "include/net/tcp.h: tcp_scaling_ratio_init",
    "arrived in 6.6",
  ),
  clampFollowsRatio: fact(
    false,
    "net/ipv4/tcp_input.c: tcp_measure_rcv_mss",
    "arrived in 6.10",
  ),
  initialWindow: fact(
    "init_rwnd",
    "net/ipv4/tcp_output.c: tcp_select_initial_window",
    TREE,
  ),
  advmssBeforeBuffers: fact(
    false,
    "net/ipv4/tcp_input.c: tcp_rcv_state_process",
    TREE,
  ),
  growRoom: fact("test", "net/ipv4/tcp_input.c: tcp_grow_window", TREE),
  growIgnoresHead: fact(false, "net/ipv4/tcp_input.c: tcp_grow_window", TREE),
  spaceCountsBacklog: fact(false, "include/net/tcp.h: tcp_space", TREE),
  zeroWindow: fact("mss", "net/ipv4/tcp_output.c: __tcp_select_window", TREE),
  rcvRtt: fact("average", "net/ipv4/tcp_input.c: tcp_rcv_rtt_update", TREE),
  clock: fact(
    "jiffies",
    "net/ipv4/tcp_input.c: tcp_rtt_estimator",
    `${TREE}; HZ 1000`,
  ),
  takesWhenEmpty: fact(false, "net/ipv4/tcp_input.c: tcp_data_queue", TREE),
  ingest: fact("rmem", "net/ipv4/tcp_input.c: tcp_try_rmem_schedule", TREE),
  ofoGrowsWindow: fact(false, "net/ipv4/tcp_input.c: tcp_data_queue_ofo", TREE),
  ofoTunesBuffer: fact(false, "net/ipv4/tcp_input.c: tcp_data_queue_ofo", TREE),
  dropsBeyondWindow: fact(false, "net/ipv4/tcp_input.c: tcp_sequence", TREE),
  zeroWindowDrop: fact(false, "net/ipv4/tcp_input.c: tcp_data_queue", TREE),
  noMemoryZeroWindow: fact(
    false,
    "net/ipv4/tcp_output.c: tcp_select_window",
    TREE,
  ),
  pruneReturnsEarly: fact(false, "net/ipv4/tcp_input.c: tcp_prune_queue", TREE),
  ofoPrune: fact("all", "net/ipv4/tcp_input.c: tcp_prune_ofo_queue", TREE),
  collapseHeadroom: fact(true, "net/ipv4/tcp_input.c: tcp_collapse", TREE),
  backlogLimit: fact(
    "rcvbuf + sndbuf",
    "net/ipv4/tcp_ipv4.c: tcp_v4_rcv",
    TREE,
  ),
  backlogCoalesces: fact(false, "net/ipv4/tcp_ipv4.c: tcp_add_backlog", TREE),
  slowStart: fact("ack", "net/ipv4/tcp_cong.c: tcp_slow_start", TREE),
  sizeGoal: fact("pacing", "net/ipv4/tcp.c: tcp_xmit_size_goal", TREE),
  autosizeByRtt: fact(false, "net/ipv4/tcp_output.c: tcp_tso_autosize", TREE),
  pacing: fact(
    [200, 200],
    "net/ipv4/tcp_input.c: tcp_update_pacing_rate",
    TREE,
  ),
  tsq: fact("128 KiB or 1 ms", "net/ipv4/tcp_output.c: tcp_write_xmit", TREE),
  gsoAlways: fact(false, "net/core/sock.c: sk_setup_caps", TREE),
  cwndLimited: fact(
    "in flight",
    "net/ipv4/tcp_cong.c: tcp_is_cwnd_limited",
    TREE,
  ),
  lossDetection: fact("fack", "net/ipv4/tcp_input.c: tcp_mark_head_lost", TREE),
  lossProbe: fact(
    "2 rtt, 10 ms",
    "net/ipv4/tcp_output.c: tcp_schedule_loss_probe",
    "3.12.24 tree",
  ),
  prr: fact(
    "slow start",
    "net/ipv4/tcp_input.c: tcp_cwnd_reduction",
    TREE,
  ),
  tsoDefer: fact(
    "2 jiffies",
    "net/ipv4/tcp_output.c: tcp_tso_should_defer",
    TREE,
  ),
  hystartDelayShift: fact(4, "net/ipv4/tcp_cubic.c: hystart_update", TREE),
  expandTest: fact(
    "packets_out",
    "net/ipv4/tcp_input.c: tcp_should_expand_sndbuf",
    TREE,
  ),
};
