package keyshape

var (
	hexDigits = chars("0-9a-f")
	uuidBytes = chars("0-9a-f-")
	crockford = chars("0-9A-HJKMNP-TV-Z")
	ulidFirst = chars("0-7")
)

// uuid is the class of UUIDs in the form that RFC 9562 calls for on output:
// lower case, with hyphens. Version and variant are not looked at.
type uuid struct{}

func newUUID(arg field) (class, error) { return uuid{}, arg.mustBeEmpty() }

func (uuid) width() (int, int)  { return 36, 36 }
func (uuid) first() *charset    { return hexDigits }
func (uuid) alphabet() *charset { return uuidBytes }

func (uuid) accept(s string, _ int64) bool {
	return s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-' &&
		hexDigits.holdsAll(s[:8]) && hexDigits.holdsAll(s[9:13]) && hexDigits.holdsAll(s[14:18]) &&
		hexDigits.holdsAll(s[19:23]) && hexDigits.holdsAll(s[24:])
}

// ulid is the class of ULIDs in upper case, as the ULID specification spells
// them: 128 bits in 26 characters of 5 bits, so the first is at most 7. The
// look-alikes that a decoder may forgive (i and l for 1, o for 0) are second
// spellings and refused.
type ulid struct{}

func newULID(arg field) (class, error) { return ulid{}, arg.mustBeEmpty() }

func (ulid) width() (int, int)  { return 26, 26 }
func (ulid) first() *charset    { return ulidFirst }
func (ulid) alphabet() *charset { return crockford }

func (ulid) accept(s string, _ int64) bool { return ulidFirst[s[0]] && crockford.holdsAll(s) }
