import { ProtocolError } from "../message/error.ts";
import { ErrorCode } from "../message/error_code.ts";
import { MAX_WINDOW } from "./flow.ts";
import { MAX_MAX_FRAME_SIZE, MIN_MAX_FRAME_SIZE, readUint32, writeUint32 } from "./frame.ts";

/** Identifiers of RFC 9113 §6.5.2. */
export const SettingId = {
  HEADER_TABLE_SIZE: 0x1,
  ENABLE_PUSH: 0x2,
  MAX_CONCURRENT_STREAMS: 0x3,
  INITIAL_WINDOW_SIZE: 0x4,
  MAX_FRAME_SIZE: 0x5,
  MAX_HEADER_LIST_SIZE: 0x6,
} as const;

/** One endpoint's settings, RFC 9113 §6.5.2. Sizes in bytes. */
export interface Settings {
  headerTableSize: number;
  maxConcurrentStreams: number;
  initialWindowSize: number;
  maxFrameSize: number;
  maxHeaderListSize: number;
}

/** What holds until the peer's SETTINGS arrive, RFC 9113 §6.5.2. */
export function initialSettings(): Settings {
  return {
    headerTableSize: 4096,
    maxConcurrentStreams: Infinity,
    initialWindowSize: 65_535,
    maxFrameSize: MIN_MAX_FRAME_SIZE,
    maxHeaderListSize: Infinity,
  };
}

/** Entries one SETTINGS frame may carry: there are six settings, and a frame may be padded with unknown ones. */
const MAX_SETTINGS_ENTRIES = 32;

/** Bytes of one entry. */
export const SETTING_SIZE = 6;

/** Applies the entries in `buf[start, end)` in order. Unknown identifiers are ignored, as §6.5.2 says. */
export function readSettings(
  settings: Settings,
  buf: Uint8Array,
  start: number,
  end: number,
): void {
  if ((end - start) / SETTING_SIZE > MAX_SETTINGS_ENTRIES) {
    throw new ProtocolError(
      `Cannot accept SETTINGS as entries must be <= ${MAX_SETTINGS_ENTRIES}: current value is ${
        (end - start) / SETTING_SIZE
      }`,
      ErrorCode.ENHANCE_YOUR_CALM,
    );
  }
  for (let i = start; i < end; i += SETTING_SIZE) {
    const value = readUint32(buf, i + 2);
    switch ((buf[i]! << 8) | buf[i + 1]!) {
      case SettingId.HEADER_TABLE_SIZE:
        settings.headerTableSize = value;
        break;
      case SettingId.ENABLE_PUSH:
        // "Any value other than 0 or 1 MUST be treated as a connection error of type PROTOCOL_ERROR."
        if (value > 1) throw invalid("ENABLE_PUSH", "0 or 1", value, ErrorCode.PROTOCOL_ERROR);
        break;
      case SettingId.MAX_CONCURRENT_STREAMS:
        settings.maxConcurrentStreams = value;
        break;
      case SettingId.INITIAL_WINDOW_SIZE:
        // "Values above the maximum flow-control window size of 2^31-1 MUST be treated as a
        // connection error of type FLOW_CONTROL_ERROR."
        if (value > MAX_WINDOW) {
          throw invalid(
            "INITIAL_WINDOW_SIZE",
            `<= ${MAX_WINDOW}`,
            value,
            ErrorCode.FLOW_CONTROL_ERROR,
          );
        }
        settings.initialWindowSize = value;
        break;
      case SettingId.MAX_FRAME_SIZE:
        if (value < MIN_MAX_FRAME_SIZE || value > MAX_MAX_FRAME_SIZE) {
          throw invalid(
            "MAX_FRAME_SIZE",
            `between ${MIN_MAX_FRAME_SIZE} and ${MAX_MAX_FRAME_SIZE}`,
            value,
            ErrorCode.PROTOCOL_ERROR,
          );
        }
        settings.maxFrameSize = value;
        break;
      case SettingId.MAX_HEADER_LIST_SIZE:
        settings.maxHeaderListSize = value;
        break;
    }
  }
}

function invalid(name: string, rule: string, value: number, code: number): ProtocolError {
  return new ProtocolError(
    `Cannot accept SETTINGS_${name} as it must be ${rule}: current value is ${value}`,
    code,
  );
}

/** Writes `[identifier, value]` pairs and returns the next offset. */
export function writeSettings(
  out: Uint8Array,
  offset: number,
  entries: readonly (readonly [number, number])[],
): number {
  for (const [id, value] of entries) {
    out[offset++] = id >>> 8;
    out[offset++] = id;
    offset = writeUint32(out, offset, value);
  }
  return offset;
}
