import hashlib
import http.server
import threading
import time


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        digest = self.path.encode()
        for _ in range(200):
            digest = hashlib.sha256(digest * 20).digest()
        body = digest.hex().encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


def background():
    while True:
        sum(range(3000))
        time.sleep(0.001)


for _ in range(3):
    threading.Thread(target=background, daemon=True).start()
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
