package redisstore

import "reflect"

// isRecursive reports whether a value of type t can contain another one.
func isRecursive(t reflect.Type, above []reflect.Type) bool {
	for _, a := range above {
		if a == t {
			return true
		}
	}
	above = append(above[:len(above):len(above)], t)
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return isRecursive(t.Elem(), above)
	case reflect.Map:
		return isRecursive(t.Key(), above) || isRecursive(t.Elem(), above)
	case reflect.Struct:
		for i := range t.NumField() {
			if t.Field(i).IsExported() && isRecursive(t.Field(i).Type, above) {
				return true
			}
		}
	}
	return false
}

// isDeep reports whether v has more than so many levels.
func isDeep(v reflect.Value, levels int) bool {
	switch v.Kind() {
	case reflect.Pointer:
		return !v.IsNil() && (levels == 0 || isDeep(v.Elem(), levels-1))
	case reflect.Slice, reflect.Array:
		if k := v.Type().Elem().Kind(); k < reflect.Array || k == reflect.String {
			return false // as many as there may be, they are flat
		}
		for i := range v.Len() {
			if levels == 0 || isDeep(v.Index(i), levels-1) {
				return true
			}
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			if levels == 0 || isDeep(it.Key(), levels-1) || isDeep(it.Value(), levels-1) {
				return true
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if levels == 0 || isDeep(v.Field(i), levels-1) {
				return true
			}
		}
	}
	return false
}
