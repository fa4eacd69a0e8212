// Package redistest starts Redis servers for tests, alone or as a Cluster, and
// does to them what happens to servers: it kills them, stops them, and puts bad
// networks in front of them.
package redistest
