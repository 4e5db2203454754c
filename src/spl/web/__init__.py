"""Pages on this machine: `spl watch` follows one run, `spl studio` starts searches. Needs the extra `ui`."""
