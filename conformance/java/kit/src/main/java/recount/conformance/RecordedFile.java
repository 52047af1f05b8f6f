package recount.conformance;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/**
 * One file of vectors.
 *
 * @param name its name below the folder of the version
 * @param lines its lines; each has a {@code case} that no other line of the file has
 */
public record RecordedFile(String name, List<ObjectNode> lines) {}
