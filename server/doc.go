// Package server speaks RESP, Redis's protocol, versions 2 and 3: it turns the commands that Redis clients send into draws of
// ids. Everything that knows RESP is here.
//
// The codec is redcon's: its ReadNextCommand splits requests, its Append functions write replies. redcon.Server is not
// used: in v1.6.4 one small packet with an overflowing length ends the whole process, and it allocates about three times
// a command. A framer of our own bounds every header before redcon's parser sees it.
package server
