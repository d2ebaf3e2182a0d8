package iperf

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"time"

	"linerate/engine/internal/wire"
)

// Limits on what a peer's facts may hold.
const (
	tameText = 256           // bytes of a string
	tameList = wire.MaxCores // elements of a list or map
)

// mayBeNegative are the fields below which a number below zero is no lie.
var mayBeNegative = []string{"SignalDBm", "RxDBm", "LowDBm", "Margin"}

// tame makes a decoded value of the vocabularies, which dst points to, harmless: texts lose
// their control characters and are cut. The error names what cannot be true of any
// computer: too long a list, a negative number.
func tame(dst any) error { return tameValue(reflect.ValueOf(dst).Elem(), "") }

func tameValue(v reflect.Value, name string) error {
	switch x := v.Addr().Interface().(type) {
	case *time.Time, *netip.AddrPort:
		return nil
	case *netip.Addr:
		if x.Zone() != "" {
			*x = x.WithZone(wire.Clean(x.Zone(), tameText))
		}
		return nil
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(wire.Clean(v.String(), tameText))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		// A core number of −1 stands for none.
		if v.Int() < 0 && !(name == "Core" && v.Int() == -1) && !slices.Contains(mayBeNegative, name) {
			return fmt.Errorf("%s is %d", name, v.Int())
		}
		if name == "Cores" && v.Int() > wire.MaxCores {
			return fmt.Errorf("%d cores", v.Int())
		}
	case reflect.Float32, reflect.Float64:
		if f := v.Float(); !(f >= 0) && !slices.Contains(mayBeNegative, name) || f-f != 0 {
			return fmt.Errorf("%s is %v", name, f)
		}
	case reflect.Struct:
		return tameFields(v, name)
	case reflect.Slice:
		return tameSlice(v, name)
	case reflect.Map:
		return tameMap(v, name)
	}
	return nil
}

func tameFields(v reflect.Value, name string) error {
	for i := range v.NumField() {
		field := v.Type().Field(i).Name
		if field == "Value" { // of a probes.Reading: what it is shows one level up
			field = name
		}
		if err := tameValue(v.Field(i), field); err != nil {
			return err
		}
	}
	return nil
}

func tameSlice(v reflect.Value, name string) error {
	if v.Len() > tameList {
		return fmt.Errorf("%s has %d elements", name, v.Len())
	}
	for i := range v.Len() {
		if err := tameValue(v.Index(i), name); err != nil {
			return err
		}
	}
	return nil
}

func tameMap(v reflect.Value, name string) error {
	if v.Len() > tameList {
		return fmt.Errorf("%s has %d elements", name, v.Len())
	}
	clean := reflect.MakeMapWithSize(v.Type(), v.Len())
	for _, key := range v.MapKeys() {
		// What a map holds cannot be changed in place.
		k, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		k.Set(key)
		e.Set(v.MapIndex(key))
		if err := tameValue(k, name); err != nil {
			return err
		}
		if err := tameValue(e, name); err != nil {
			return err
		}
		clean.SetMapIndex(k, e)
	}
	if !v.IsNil() {
		v.Set(clean)
	}
	return nil
}
