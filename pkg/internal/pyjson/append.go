package pyjson

// Append appends v as json.dumps(v) writes it by default: one line, ASCII, ", "
// and ": " between things, members in order, floats in their repr.
func Append(dst []byte, v Value) []byte {
	switch v.kind {
	case KindBool:
		if v.b {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	case KindNumber:
		return appendNumber(dst, v.text)
	case KindString:
		return AppendString(dst, v.text)
	case KindList:
		dst = append(dst, '[')
		for i, item := range v.node.vals {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = Append(dst, item)
		}
		return append(dst, ']')
	case KindObject:
		return AppendObject(dst, v.node)
	}
	return append(dst, "null"...)
}

// AppendObject appends o as [Append] does; nil is written as an empty object.
func AppendObject(dst []byte, o *Object) []byte {
	dst = append(dst, '{')
	for i := range o.Len() {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = AppendString(dst, o.keys[i])
		dst = append(dst, ": "...)
		dst = Append(dst, o.vals[i])
	}
	return append(dst, '}')
}
