// Package storetest helps to test shared tiers, and what uses them.
//
// [Suite] is the conformance suite of package store: an implementation that
// passes it keeps the contract as far as tests can tell. [Memory] is a tier in
// memory whose clients talk to it over a network that can be slow, lose messages
// and fall apart; it works in testing/synctest bubbles, where fleets of caches
// run for hours in milliseconds.
package storetest
