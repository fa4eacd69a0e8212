package keyshape_test

import (
	"fmt"
	"time"

	"github.com/earlybird-cache/earlybird/keyshape"
)

func ExampleCompile() {
	shapes, err := keyshape.Compile("user:{uint}", "doc:{uuid}", "page:{en|de|fr}/{slug}")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, key := range []string{
		"user:42",
		"user:042", // a second spelling of user:42
		"doc:123e4567-e89b-12d3-a456-426614174000",
		"doc:123E4567-E89B-12D3-A456-426614174000",
		"page:de/rote-schuhe",
		"../../etc/passwd",
	} {
		fmt.Println(shapes.Match(key), key)
	}
	// Output:
	// true user:42
	// false user:042
	// true doc:123e4567-e89b-12d3-a456-426614174000
	// false doc:123E4567-E89B-12D3-A456-426614174000
	// true page:de/rote-schuhe
	// false ../../etc/passwd
}

func ExamplePatternError() {
	_, err := keyshape.Compile("user:{unit}")
	fmt.Println(err)
	// Output:
	// keyshape: pattern "user:{unit}", column 7: no class is named "unit"
}

// A snowflake tells when it was made: nobody can have been given one yet that
// will be made tomorrow.
func ExampleSet_MatchAt() {
	shapes := keyshape.MustCompile("tweet:{snowflake:twitter}")
	made := time.Date(2022, 6, 28, 16, 7, 40, 0, time.UTC)
	fmt.Println(shapes.MatchAt("tweet:1541815603606036480", made))
	fmt.Println(shapes.MatchAt("tweet:1541815603606036480", made.AddDate(0, 0, -1)))
	// Output:
	// true
	// false
}

func ExampleJoin() {
	fmt.Println(keyshape.Join("acme1", "23"))
	fmt.Println(keyshape.Join("acme", "123"))
	parts, err := keyshape.Split("4:acme,3:123,")
	fmt.Printf("%q %v\n", parts, err)
	_, err = keyshape.Split("04:acme,3:123,")
	fmt.Println(err)
	// Output:
	// 5:acme1,2:23,
	// 4:acme,3:123,
	// ["acme" "123"] <nil>
	// keyshape: not a joined key
}

// A cache whose keys are tenant, locale and id: each part has its shape, and a
// guard that knows ids is asked for the id alone.
func ExampleJoined() {
	shapes := keyshape.Joined(
		keyshape.MustCompile("{slug:1..40}"),
		keyshape.MustCompile("{en|de|pt-BR}"),
		keyshape.MustCompile("{uint}"),
	)
	key := keyshape.Join("acme", "pt-BR", "1234567")
	id, _ := keyshape.Part(key, 2)
	fmt.Println(shapes.Match(key), id)
	fmt.Println(shapes.Match(keyshape.Join("acme", "xx", "1234567")))
	// Output:
	// true 1234567
	// false
}
