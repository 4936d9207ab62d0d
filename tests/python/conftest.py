"""Settings of all tests here."""

import signal

# A shell starts a background job with Control-C ignored, and Python keeps that.
signal.signal(signal.SIGINT, signal.default_int_handler)
