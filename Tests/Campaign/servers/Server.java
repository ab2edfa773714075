import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.concurrent.Executors;

public class Server {
    public static void main(String[] arguments) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        server.setExecutor(Executors.newFixedThreadPool(4));
        server.createContext("/", exchange -> {
            try {
                byte[] digest = exchange.getRequestURI().getPath().getBytes();
                MessageDigest sha = MessageDigest.getInstance("SHA-256");
                for (int n = 0; n < 200; n++) digest = sha.digest(digest);
                byte[] body = HexFormat.of().formatHex(digest).getBytes();
                exchange.getResponseHeaders().set("Connection", "close");
                exchange.sendResponseHeaders(200, body.length);
                exchange.getResponseBody().write(body);
                exchange.close();
            } catch (Exception error) {
                throw new RuntimeException(error);
            }
        });
        server.start();
        System.out.println(server.getAddress().getPort());
        System.out.flush();
    }
}
