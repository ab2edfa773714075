// auditor.so: an auditing library (rtld-audit(7)) that only watches.
unsigned la_version(unsigned version) { return version; }
