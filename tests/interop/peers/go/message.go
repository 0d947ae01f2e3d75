package main

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// The messages of echo.proto and of the benchmark, encoded by hand, so that building the peer needs
// no code generator.

type request struct {
	text, message               string
	payload                     []byte
	responseSize, responseCount int64
	delayMs, code               int64
	headerFirst, compress       bool
}

type response struct {
	text                                        string
	payload                                     []byte
	index, received, receivedBytes, remainingMs int64
}

// message is what the codec can carry.
type message interface {
	marshal() []byte
	set(number protowire.Number, integer uint64, data []byte)
}

func appendBytes(b []byte, number protowire.Number, data []byte) []byte {
	if len(data) == 0 {
		return b
	}
	return protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), data)
}

func appendInt(b []byte, number protowire.Number, value int64) []byte {
	if value == 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), uint64(value))
}

func integer(value bool) int64 {
	if value {
		return 1
	}
	return 0
}

func (m *request) marshal() []byte {
	b := make([]byte, 0, 32+len(m.text)+len(m.payload)+len(m.message))
	b = appendBytes(b, 1, []byte(m.text))
	b = appendBytes(b, 2, m.payload)
	b = appendInt(b, 3, m.responseSize)
	b = appendInt(b, 4, m.responseCount)
	b = appendInt(b, 5, m.delayMs)
	b = appendInt(b, 6, m.code)
	b = appendBytes(b, 7, []byte(m.message))
	b = appendInt(b, 8, integer(m.headerFirst))
	return appendInt(b, 9, integer(m.compress))
}

func (m *request) set(number protowire.Number, value uint64, data []byte) {
	switch number {
	case 1:
		m.text = string(data)
	case 2:
		m.payload = append([]byte(nil), data...)
	case 3:
		m.responseSize = int64(value)
	case 4:
		m.responseCount = int64(value)
	case 5:
		m.delayMs = int64(value)
	case 6:
		m.code = int64(value)
	case 7:
		m.message = string(data)
	case 8:
		m.headerFirst = value != 0
	case 9:
		m.compress = value != 0
	}
}

func (m *response) marshal() []byte {
	b := make([]byte, 0, 32+len(m.text)+len(m.payload))
	b = appendBytes(b, 1, []byte(m.text))
	b = appendBytes(b, 2, m.payload)
	b = appendInt(b, 3, m.index)
	b = appendInt(b, 4, m.received)
	b = appendInt(b, 5, m.receivedBytes)
	return appendInt(b, 6, m.remainingMs)
}

func (m *response) set(number protowire.Number, value uint64, data []byte) {
	switch number {
	case 1:
		m.text = string(data)
	case 2:
		m.payload = append([]byte(nil), data...)
	case 3:
		m.index = int64(value)
	case 4:
		m.received = int64(value)
	case 5:
		m.receivedBytes = int64(value)
	case 6:
		m.remainingMs = int64(value)
	}
}

// codec carries our messages as `application/grpc+proto`.
type codec struct{}

func (codec) Name() string { return "proto" }

func (codec) Marshal(v any) ([]byte, error) {
	m, ok := v.(message)
	if !ok {
		return nil, fmt.Errorf("cannot marshal %T", v)
	}
	return m.marshal(), nil
}

func (codec) Unmarshal(b []byte, v any) error {
	m, ok := v.(message)
	if !ok {
		return fmt.Errorf("cannot unmarshal %T", v)
	}
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		var value uint64
		var data []byte
		switch kind {
		case protowire.VarintType:
			value, n = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			data, n = protowire.ConsumeBytes(b)
		default:
			n = protowire.ConsumeFieldValue(number, kind, b)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		m.set(number, value, data)
		b = b[n:]
	}
	return nil
}
