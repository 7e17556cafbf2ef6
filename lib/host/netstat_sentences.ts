/**
 * The sentences of `netstat -s` and the counters they stand for (net-tools 1.60 to 2.10), `#` where the number goes.
 *
 * @module
 */

/** Sentences by section, each with the counter's name in its section. */
export const NETSTAT_SENTENCES: Readonly<
  Record<string, Readonly<Record<string, string>>>
> = {
  Ip: {
    "Forwarding: #": "Forwarding",
    "Default TTL is #": "DefaultTTL",
    "# forwarded": "ForwDatagrams",
    "# fragments created": "FragCreates",
    "# outgoing packets failed fragmentation": "FragFails",
    "# outgoing packets fragmented ok": "FragOKs",
    "# with invalid addresses": "InAddrErrors",
    "# incoming packets delivered": "InDelivers",
    "# incoming packets discarded": "InDiscards",
    "# with invalid headers": "InHdrErrors",
    "# total packets received": "InReceives",
    "# with unknown protocol": "InUnknownProtos",
    "# outgoing packets dropped": "OutDiscards",
    "# dropped because of missing route": "OutNoRoutes",
    "# requests sent out": "OutRequests",
    "# packet reassemblies failed": "ReasmFails",
    "# packet reassembles failed": "ReasmFails",
    "# packets reassembled ok": "ReasmOKs",
    "# reassemblies required": "ReasmReqds",
    "# fragments dropped after timeout": "ReasmTimeout",
  },
  Ip6: {
    "# fragments created": "FragCreates",
    "# outgoing packets failed fragmentation": "FragFails",
    "# outgoing packets fragmented ok": "FragOKs",
    "# with invalid addresses": "InAddrErrors",
    "# incoming packets delivered": "InDelivers",
    "# incoming packets discarded": "InDiscards",
    "# with invalid headers": "InHdrErrors",
    "# incoming multicast packets": "InMcastPkts",
    "# incoming packets with no route": "InNoRoutes",
    "# total packets received": "InReceives",
    "# with packets too big": "InTooBigErrors",
    "# with truncated packets": "InTruncatedPkts",
    "# with unknown protocol": "InUnknownProtos",
    "# outgoing packets dropped": "OutDiscards",
    "# forwarded": "OutForwDatagrams",
    "# outgoing multicast packets": "OutMcastPkts",
    "# dropped because of missing route": "OutNoRoutes",
    "# requests sent out": "OutRequests",
    "# packet reassemblies failed": "ReasmFails",
    "# packets reassembled ok": "ReasmOKs",
    "# reassemblies required": "ReasmReqds",
    "# fragments dropped after timeout": "ReasmTimeout",
  },
  Icmp: {
    "# ICMP messages received": "InMsgs",
    "# input ICMP message failed": "InErrors",
    "# input ICMP message failed.": "InErrors",
    "# ICMP messages sent": "OutMsgs",
    "# ICMP messages failed": "OutErrors",
  },
  Icmp6: {
    "# ICMP messages received": "InMsgs",
    "# input ICMP message failed": "InErrors",
    "# ICMP messages sent": "OutMsgs",
  },
  Tcp: {
    "# active connection openings": "ActiveOpens",
    "# active connections openings": "ActiveOpens",
    "# failed connection attempts": "AttemptFails",
    "# connections established": "CurrEstab",
    "# connection resets received": "EstabResets",
    "# bad segments received": "InErrs",
    "# bad segments received.": "InErrs",
    "# segments received": "InSegs",
    "# resets sent": "OutRsts",
    "# segments sent out": "OutSegs",
    "# segments send out": "OutSegs",
    "# passive connection openings": "PassiveOpens",
    "# segments retransmitted": "RetransSegs",
    "# segments retransmited": "RetransSegs",
  },
  Udp: {
    "# packets received": "InDatagrams",
    "# packet receive errors": "InErrors",
    "# packets to unknown port received": "NoPorts",
    "# packets to unknown port received.": "NoPorts",
    "# packets sent": "OutDatagrams",
    "# receive buffer errors": "RcvbufErrors",
    "# send buffer errors": "SndbufErrors",
  },
  TcpExt: {
    "# delayed acks further delayed because of locked socket":
      "DelayedACKLocked",
    "Quick ack mode was activated # times": "DelayedACKLost",
    "# delayed acks sent": "DelayedACKs",
    "# resets received for embryonic SYN_RECV sockets": "EmbryonicRsts",
    "# SYNs to LISTEN sockets dropped": "ListenDrops",
    "# SYNs to LISTEN sockets ignored": "ListenDrops",
    "# times the listen queue of a socket overflowed": "ListenOverflows",
    "# ICMP packets dropped because socket was locked": "LockDroppedIcmps",
    "# packets dropped from out-of-order queue because of socket buffer overrun":
      "OfoPruned",
    "# ICMP packets dropped because they were out-of-window":
      "OutOfWindowIcmps",
    "# active connections rejected because of time stamp": "PAWSActive",
    "# packets rejected in established connections because of timestamp":
      "PAWSEstab",
    "# packetes rejected in established connections because of timestamp":
      "PAWSEstab",
    "# packets rejects in established connections because of timestamp":
      "PAWSEstab",
    "# passive connections rejected because of time stamp": "PAWSPassive",
    "# packets pruned from receive queue because of socket buffer overrun":
      "PruneCalled",
    "# packets pruned from receive queue": "RcvPruned",
    "Ran # times out of system memory during packet sending": "SockMallocOOM",
    "# invalid SYN cookies received": "SyncookiesFailed",
    "# SYN cookies received": "SyncookiesRecv",
    "# SYN cookies sent": "SyncookiesSent",
    "# times unable to send RST due to no memory": "TCPAbortFailed",
    "# connections reset due to early user close": "TCPAbortOnClose",
    "# connections reset due to unexpected data": "TCPAbortOnData",
    "# connections aborted after user close in linger timeout":
      "TCPAbortOnLinger",
    "# connections aborted due to memory pressure": "TCPAbortOnMemory",
    "# connections reset due to unexpected SYN": "TCPAbortOnSyn",
    "# connections aborted due to timeout": "TCPAbortOnTimeout",
    "# bytes directly in process context from backlog":
      "TCPDirectCopyFromBacklog",
    "# bytes directly received in process context from prequeue":
      "TCPDirectCopyFromPrequeue",
    "# DSACKs for out of order packets received": "TCPDSACKOfoRecv",
    "# DSACKs sent for out of order packets": "TCPDSACKOfoSent",
    "# DSACKs sent for old packets": "TCPDSACKOldSent",
    "# DSACKs received": "TCPDSACKRecv",
    "# congestion window recovered without slow start using DSACK":
      "TCPDSackUndo",
    "# congestion windows recovered without slow start by DSACK":
      "TCPDSACKUndo",
    "Detected reordering # times using FACK": "TCPFACKReorder",
    "# fast retransmits": "TCPFastRetrans",
    "# forward retransmits": "TCPForwardRetrans",
    "# congestion windows fully recovered without slow start": "TCPFullUndo",
    "# congestion windows fully recovered": "TCPFullUndo",
    "# predicted acknowledgments": "TCPHPAcks",
    "# packet headers predicted": "TCPHPHits",
    "# packet headers predicted and directly queued to user": "TCPHPHitsToUser",
    "# timeouts in loss state": "TCPLossFailures",
    "# TCP data loss events": "TCPLoss",
    "# congestion windows recovered without slow start after partial ack":
      "TCPLossUndo",
    "# congestion windows recovered after partial ack": "TCPLossUndo",
    "# retransmits lost": "TCPLostRetransmits",
    "TCP ran low on memory # times": "TCPMemoryPressures",
    "# congestion windows partially recovered using Hoe heuristic":
      "TCPPartialUndo",
    "# packets directly queued to recvmsg prequeue": "TCPPrequeued",
    "# packets directly queued to recvmsg prequeue.": "TCPPrequeued",
    "# packets dropped from prequeue": "TCPPrequeueDropped",
    "# acknowledgments not containing data payload received": "TCPPureAcks",
    "# acknowledgments not containing data received": "TCPPureAcks",
    "# packets collapsed in receive queue due to low socket buffer":
      "TCPRcvCollapsed",
    "# timeouts after reno fast retransmit": "TCPRenoFailures",
    "# reno fast retransmits failed": "TCPRenoRecoveryFailed",
    "# classic Reno fast retransmits failed": "TCPRenoRecoveryFail",
    "# times recovered from packet loss due to fast retransmit":
      "TCPRenoRecovery",
    "Detected reordering # times using reno fast retransmit": "TCPRenoReorder",
    "# timeouts after SACK recovery": "TCPSackFailures",
    "# SACK retransmits failed": "TCPSackRecoveryFail",
    "# sack retransmits failed": "TCPSackRecoveryFail",
    "# times recovered from packet loss by selective acknowledgements":
      "TCPSackRecovery",
    "# times recovered from packet loss due to SACK data": "TCPSackRecovery",
    "# bad SACK blocks received": "TCPSACKReneging",
    "Detected reordering # times using SACK": "TCPSACKReorder",
    "# times receiver scheduled too late for direct processing":
      "TCPSchedulerFailed",
    "# retransmits in slow start": "TCPSlowStartRetrans",
    "# other TCP timeouts": "TCPTimeouts",
    "Detected reordering # times using time stamp": "TCPTSReorder",
    "# TCP sockets finished time wait in fast timer": "TW",
    "# TCP sockets finished time wait in slow timer": "TWKilled",
    "# time wait sockets recycled by time stamp": "TWRecycled",
  },
};

/** Sections whose sentences are those of another. */
export const NETSTAT_LIKE: Readonly<Record<string, string>> = {
  UdpLite: "Udp",
  Udp6: "Udp",
  UdpLite6: "Udp",
};

/** ICMP's histograms: direction, title and counter. */
export const NETSTAT_ICMP: Readonly<
  Record<"In" | "Out", Readonly<Record<string, string>>>
> = {
  In: {
    "address mask replies": "AddrMaskReps",
    "address mask request": "AddrMasks",
    "destination unreachable": "DestUnreachs",
    "echo replies": "EchoReps",
    "echo requests": "Echos",
    "wrong parameters": "ParmProbs",
    "redirects": "Redirects",
    "source quenches": "SrcQuenchs",
    "timeout in transit": "TimeExcds",
    "timestamp reply": "TimestampReps",
    "timestamp request": "Timestamps",
  },
  Out: {
    "address mask replies": "AddrMaskReps",
    "address mask requests": "AddrMasks",
    "destination unreachable": "DestUnreachs",
    "echo replies": "EchoReps",
    "echo requests": "Echos",
    "echo request": "Echos",
    "wrong parameters": "ParmProbs",
    "redirect": "Redirects",
    "source quench": "SrcQuenchs",
    "time exceeded": "TimeExcds",
    "timestamp replies": "TimestampReps",
    "timestamp requests": "Timestamps",
  },
};
