/** Receiving flow control of one stream: the bytes allowed, received and consumed. */
export class ReceiveWindow {
  /** Bytes the peer may send ahead of the consumer; grows as the consumer reads. */
  size: number;
  /** Bytes of DATA the peer may still send. */
  left: number;
  /** Bytes received and not consumed. */
  unconsumed = 0;
  /** DATA frames of the unconsumed bytes, as long as the window has not grown. */
  unreadFrames = 0;
  /** Consumed bytes not yet given back by WINDOW_UPDATE. */
  pendingCredit = 0;
  /** Bytes consumed since the window grew. */
  consumed = 0;

  constructor(size: number) {
    this.size = this.left = size;
  }
}
