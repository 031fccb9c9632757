// Package clients tests that MySQL clients get the same through the gateway as directly from the server: clients of
// many languages play one script of several hundred statements, and all that their APIs give is compared. Tools that
// dump and restore run through the gateway as well.
//
// It holds tests only. testdata/script.txt is the script, testdata/NAME.* play it, each in the words of its API;
// what they print only has to tell all that the API tells, as no client is compared with another one. `make
// test-clients` installs the clients and plays everything; `go test` plays a shortened form with the clients that are there.
package clients
