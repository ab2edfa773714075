// moment: is over at once.
int main(void) { return 7; }
